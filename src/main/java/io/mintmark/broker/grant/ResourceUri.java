package io.mintmark.broker.grant;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URI by which OAuth 2.0 clients name a key (RFC 8707): absolute, without a fragment, of up to
 * 512 characters. The SQL functions {@code internal.is_absolute_uri} and {@code
 * internal.normal_uri} have the same rules.
 *
 * @param text as it was written
 * @param normal the same for all equivalent URIs (RFC 3986 sections 6.2.2 and 6.2.3)
 */
public record ResourceUri(String text, String normal) {
    private static final int LONGEST = 512;

    private static final Pattern ABSOLUTE =
            Pattern.compile(
                    "[A-Za-z][A-Za-z0-9+.-]{0,511}:[A-Za-z0-9._~!$&'()*+,;=:@/?%\\[\\]-]{1,511}");

    private static final Pattern BROKEN_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    private static final Pattern ESCAPE = Pattern.compile("%([0-9A-Fa-f]{2})");
    private static final Pattern UNRESERVED = Pattern.compile("[A-Za-z0-9._~-]");
    private static final int HEX = 16;

    private static final Pattern PARTS =
            Pattern.compile("([^:]+:)(?://([^/?]*)([^?]*))?(.*)", Pattern.DOTALL);

    private static final Pattern AUTHORITY =
            Pattern.compile("([^@]*@)?(\\[[^]]*\\]|[^:@]*)(?::([0-9]*))?");

    /** Parses the text; empty if it isn't the URI of a resource. */
    public static Optional<ResourceUri> of(String text) {
        return text.length() <= LONGEST
                        && ABSOLUTE.matcher(text).matches()
                        && !BROKEN_ESCAPE.matcher(text).find()
                ? Optional.of(new ResourceUri(text, normal(text)))
                : Optional.empty();
    }

    private static String normal(String text) {
        Matcher parts = PARTS.matcher(ESCAPE.matcher(text).replaceAll(ResourceUri::unescaped));
        if (!parts.matches()) {
            throw new IllegalArgumentException("no URI: " + text);
        }
        String scheme = parts.group(1).toLowerCase(Locale.ROOT);
        return parts.group(2) == null
                ? scheme + parts.group(4)
                : "%s//%s%s%s"
                        .formatted(
                                scheme,
                                authority(scheme, parts.group(2)),
                                path(parts.group(3)),
                                parts.group(4));
    }

    private static String unescaped(MatchResult escape) {
        String character = Character.toString(Integer.parseInt(escape.group(1), HEX));
        return UNRESERVED.matcher(character).matches()
                ? character
                : escape.group().toUpperCase(Locale.ROOT);
    }

    private static String authority(String scheme, String text) {
        Matcher parts = AUTHORITY.matcher(text);
        if (!parts.matches()) {
            return text;
        }
        String user = Optional.ofNullable(parts.group(1)).orElse("");
        String port = Optional.ofNullable(parts.group(3)).orElse("");
        return user
                + parts.group(2).toLowerCase(Locale.ROOT)
                + (port.isEmpty() || port.equals(defaultPort(scheme)) ? "" : ":" + port);
    }

    private static String defaultPort(String scheme) {
        return switch (scheme) {
            case "http:", "ws:" -> "80";
            case "https:", "wss:" -> "443";
            default -> "";
        };
    }

    /** The path without dot segments (RFC 3986 section 5.2.4). */
    private static String path(String text) {
        Deque<String> kept = new ArrayDeque<>();
        Iterator<String> segments = List.of(text.split("/", -1)).iterator();
        segments.next(); // before the first slash
        while (segments.hasNext()) {
            String segment = segments.next();
            boolean dots = segment.equals(".") || segment.equals("..");
            if (segment.equals("..")) {
                kept.pollLast();
            }
            if (!dots) {
                kept.add(segment);
            } else if (!segments.hasNext()) {
                kept.add("");
            }
        }
        return "/" + String.join("/", kept);
    }

    /** Whether both name the same resource. */
    public boolean isEquivalentTo(ResourceUri other) {
        return normal.equals(other.normal);
    }

    @Override
    public String toString() {
        return text;
    }
}
