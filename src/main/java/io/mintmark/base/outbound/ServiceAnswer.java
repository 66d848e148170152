package io.mintmark.base.outbound;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

import io.mintmark.base.json.StrictJson;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A service's response as a JSON object. Its texts are only available as secrets, or as messages
 * without secrets, because a service may quote what it was sent.
 */
public final class ServiceAnswer {
    /** The usual limit of an answer's body, in bytes. */
    static final int USUAL_LENGTH = 64 << 10;

    /** Short enough that adding it to a time doesn't overflow. */
    private static final Duration LONGEST_LIFE = Duration.ofDays(36_500);

    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,10}");

    /** Years of four digits; what Java can read beyond them, the audit log couldn't store. */
    private static final Pattern RFC_3339 = Pattern.compile("[0-9]{4}-.+");

    /** The characters of a token. The broker or its client will send the token in a header. */
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,16384}");

    /** The characters of an id that the audit log can store. */
    private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,255}");

    /**
     * The characters of an error code, by RFC 6749 section 5.2. Operators search for codes, so they
     * are quoted.
     */
    private static final Pattern CODE = Pattern.compile("[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}");

    private final JsonNode members;
    private final Optional<Secret> stray;
    private final SentSecrets sent;

    private ServiceAnswer(JsonNode members, Optional<Secret> stray, SentSecrets sent) {
        this.members = members;
        this.stray = stray;
        this.sent = sent;
    }

    /**
     * Reads an answer.
     *
     * @param sent with the request that it answers
     */
    static ServiceAnswer of(byte[] body, SentSecrets sent) {
        return StrictJson.object(body, body.length)
                .map(object -> new ServiceAnswer(object, Optional.empty(), sent))
                .orElseGet(() ->
                        new ServiceAnswer(MissingNode.getInstance(), StrayToken.in(body), sent));
    }

    /** An objection, unless the response is as it should be. */
    public static Optional<String> unless(boolean fine, String objection) {
        return fine ? Optional.empty() : Optional.of(objection);
    }

    /** Whether the response is one JSON object that all parsers read alike. */
    public boolean isReadable() {
        return members.isObject();
    }

    /** Whether the member is present and not null. */
    public boolean has(String member) {
        return members.hasNonNull(member);
    }

    /** Whether the member is a text that passes. */
    boolean says(String member, Predicate<String> wanted) {
        String text = members.path(member).textValue();
        return text != null && wanted.test(text);
    }

    /** The error code at this path; empty if there is none. */
    public Optional<String> code(String... path) {
        return words(path).filter(word -> CODE.matcher(word).matches());
    }

    /** The text at this path, without secrets and fit for the audit log. */
    public Optional<String> words(String... path) {
        JsonNode node = members;
        for (String name : path) {
            node = node.path(name);
        }
        return Optional.ofNullable(node.textValue()).map(this::shown).filter(w -> !w.isEmpty());
    }

    /** All error codes in members of this name, at any depth. */
    public List<String> codes(String name) {
        return members.findValues(name).stream()
                .filter(JsonNode::isTextual)
                .map(value -> shown(value.textValue()))
                .filter(word -> CODE.matcher(word).matches())
                .toList();
    }

    /** The object in this member, as a response of its own. */
    public ServiceAnswer within(String member) {
        return new ServiceAnswer(members.path(member), stray, sent);
    }

    /**
     * Whether the object under this name consists of exactly these texts, apart from optional ones.
     *
     * @param texts required, by name
     * @param optional texts that may be present too
     */
    public boolean isExactly(
            String member, Map<String, String> texts, Map<String, String> optional) {
        Map<String, String> found = new HashMap<>();
        members.path(member)
                .properties()
                .forEach(each -> found.put(each.getKey(), each.getValue().asText()));
        Map<String, String> needed = new HashMap<>(found);
        optional.forEach((name, text) -> {
            if (!texts.containsKey(name)) {
                needed.remove(name, text);
            }
        });
        return needed.equals(texts);
    }

    /**
     * Whether the list under {@code member} isn't empty and each of its elements has one of these
     * values under {@code name}. The comparison ignores case.
     */
    public boolean listsOnly(String member, String name, Set<String> values) {
        Set<String> allowed = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        allowed.addAll(values);
        List<String> listed = listed(member, name);
        return !listed.isEmpty() && allowed.containsAll(listed);
    }

    /** The values under a name of a list's elements, without secrets; {@code ""} for none. */
    public List<String> listed(String member, String name) {
        JsonNode list = members.path(member);
        return list.isArray()
                ? list.valueStream().map(each -> shown(each.path(name).asText())).toList()
                : List.of();
    }

    /** The member's value as JSON, without secrets and fit for the audit log. */
    public String quote(String member) {
        return shown(members.path(member).toString());
    }

    /**
     * The token under this name. In an unreadable response, the token that OAuth's member name
     * suggests.
     */
    public Optional<Secret> token(String member) {
        return stray.or(() ->
                Optional.ofNullable(members.path(member).textValue())
                        .filter(text -> !text.isEmpty())
                        .map(Secret::new));
    }

    /** The texts that it has under this name, by their own names; empty if not all are texts. */
    public Optional<Map<String, Secret>> texts(String member) {
        Map<String, Secret> texts = new HashMap<>();
        JsonNode found = members.path(member);
        found.properties()
                .forEach(each -> {
                    if (each.getValue().isTextual()) {
                        texts.put(each.getKey(), new Secret(each.getValue().textValue()));
                    }
                });
        return found.isObject() && texts.size() == found.size()
                ? Optional.of(texts)
                : Optional.empty();
    }

    /** The member's boolean value; empty if it isn't a boolean. */
    public Optional<Boolean> flag(String member) {
        JsonNode found = members.path(member);
        return found.isBoolean() ? Optional.of(found.booleanValue()) : Optional.empty();
    }

    /** Whether a text contains one of the secrets that were sent. */
    public boolean repeatsSecretIn(Secret text) {
        return sent.areIn(text);
    }

    /** An id under this name that contains nothing of the secrets that were sent. */
    public Optional<String> id(String member) {
        return Optional.ofNullable(members.path(member).textValue())
                .filter(id -> ID.matcher(id).matches() && !sent.arePartlyIn(id));
    }

    /**
     * The reason why a token of this response must not be handed out, as a sentence about the
     * response.
     */
    public Optional<String> objection(Secret token) {
        if (!isReadable()) {
            return Optional.of("the response isn't a JSON object without duplicate fields");
        }
        if (has("error")) {
            return Optional.of("the response has both a token and an error");
        }
        if (!TOKEN.matcher(token.reveal()).matches()) {
            return Optional.of("the token isn't printable ASCII of at most 16 KiB");
        }
        return sent.areIn(token)
                ? Optional.of("the token contains the broker's own token")
                : Optional.empty();
    }

    /**
     * A duration in whole seconds, given as a number or as a string of digits (RFC 6749 appendix
     * A.14).
     */
    public Optional<Duration> seconds(String member) {
        JsonNode value = members.path(member);
        return Optional.of(value)
                .filter(v -> v.isIntegralNumber() || v.isTextual())
                .map(JsonNode::asText)
                .filter(text -> SECONDS.matcher(text).matches())
                .map(text -> Duration.ofSeconds(Long.parseLong(text)))
                .filter(life -> life.isPositive() && life.compareTo(LONGEST_LIFE) <= 0);
    }

    /** A time as RFC 3339 writes it. */
    public Optional<Instant> time(String member) {
        try {
            return Optional.ofNullable(members.path(member).textValue())
                    .filter(text -> RFC_3339.matcher(text).matches())
                    .map(text -> OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private String shown(String words) {
        return ProviderWords.fit(sent.hiddenIn(ProviderWords.cut(words)));
    }

    /** Shows nothing that the service sent. */
    @Override
    public String toString() {
        return isReadable() ? "an object" : "no object";
    }
}
