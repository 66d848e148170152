package io.mintmark.console;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * An address of a page as browsers may be sent to it: a path of this console, spelt in the one way
 * that leads nowhere else. {@code //host} and {@code /\host} are other hosts to a browser.
 */
record LocalAddress(String text) {
    static final LocalAddress START = new LocalAddress("/");

    /** The maximum length. A longer address wouldn't fit into the cookie that remembers it. */
    private static final int LONGEST = 1_500;

    private static final Pattern AFTER_A_PART = Pattern.compile("[/?]");
    private static final String IN_PATH = "._~!$&'()*+,=:@%/-";
    private static final String NOT_IN_QUERY = "\"<>\\^`{|}#";

    /** An address that is safe to redirect to; empty for any other text. */
    static Optional<LocalAddress> of(String text) {
        String[] parts = text.split("\\?", 2);
        return text.length() <= LONGEST
                        && isPlainPath(parts[0])
                        && (parts.length == 1 || isPlainQuery(parts[1]))
                ? Optional.of(new LocalAddress(text))
                : Optional.empty();
    }

    /**
     * Whether a login may return here: to a page, but not to an address that ends a login or a
     * session.
     *
     * @param sections the first segments of the pages' paths
     */
    boolean isPage(Set<String> sections) {
        return sections.contains(firstSegment(text));
    }

    /** The first segment of a path; empty for the start page. */
    static String firstSegment(String path) {
        return AFTER_A_PART.split(path, 3)[1];
    }

    /** Whether all readers of a path agree on its meaning. */
    static boolean isPlainPath(String path) {
        return path.startsWith("/")
                && path.chars().allMatch(LocalAddress::isInPath)
                && !path.contains("//")
                && !(path + "/").contains("/./")
                && !(path + "/").contains("/../");
    }

    private static boolean isInPath(int character) {
        return isLetterOrDigit(character) || IN_PATH.indexOf(character) >= 0;
    }

    private static boolean isPlainQuery(String query) {
        return query.chars().allMatch(c -> c > ' ' && c < 0x7f && NOT_IN_QUERY.indexOf(c) < 0);
    }

    private static boolean isLetterOrDigit(int character) {
        return character < 0x80 && Character.isLetterOrDigit(character);
    }
}
