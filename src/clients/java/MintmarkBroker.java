package io.mintmark.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The broker of a {@link MintmarkLogin}: mints, and repeats what may pass and can't mint twice. */
final class MintmarkBroker {
    private static final System.Logger LOG = System.getLogger(MintmarkLogin.class.getName());
    private static final int OK = 200;

    /** The broker says that it issued nothing. */
    private static final Set<Integer> LATER = Set.of(429, 503);

    /** A gateway answers, which doesn't know what the broker did. */
    private static final Set<Integer> UNKNOWN = Set.of(502, 504);

    /** For a request, and for a mint with its repetitions. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** Waits are random, up to a limit that doubles from the first to the second. */
    private static final Duration FIRST_WAIT = Duration.ofMillis(500);

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(8);

    /** After a mint of which nobody knows whether it issued a login. */
    private static final Duration AFTER_UNKNOWN = Duration.ofSeconds(30);

    /** A clock that differs by more gets a line. A mint takes less. */
    private static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(30);

    private static final String TEXT = "\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"";
    private static final Pattern MEMBER = Pattern.compile(TEXT + "\\s*:\\s*" + TEXT);
    private static final Pattern RETRY_AFTER =
            Pattern.compile("\"retryAfter\"\\s*:\\s*([0-9]{1,6})(?:\\.[0-9]+)?\\s*[,}]");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))");

    /** The file with the token of who acts for the subject, if anybody does. */
    private static final String ACTOR = "mintmark.actorTokenFile";

    private final URI url;
    private final Path tokenFile;
    private final InstantSource clock;
    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(TIMEOUT)
                    .build();
    private volatile boolean clocksDiffer;

    /**
     * A minted credential.
     *
     * @param came when it was asked for, by the clock of this machine
     * @param life how long it is valid from then on, by the broker's clock
     */
    record Minted(Map<String, String> members, Instant came, Duration life) {}

    /** The reason why no credential came, and how long to wait before the next attempt. */
    static final class NotMinted extends IllegalStateException {
        private static final long serialVersionUID = 1;
        private final boolean repeatable;
        private final Duration asked;

        NotMinted(String message, boolean repeatable, Duration asked, Throwable cause) {
            super(message, cause);
            this.repeatable = repeatable;
            this.asked = asked;
        }

        Duration asked() {
            return asked;
        }
    }

    MintmarkBroker(URI url, Path tokenFile, InstantSource clock) {
        this.url = url;
        this.tokenFile = tokenFile;
        this.clock = clock;
    }

    static Duration random(Duration limit) {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(limit.toNanos()));
    }

    static Duration doubled(Duration limit, Duration longest) {
        Duration twice = limit.multipliedBy(2);
        return twice.compareTo(longest) < 0 ? twice : longest;
    }

    /** Mints with retries, for callers who wait because they have no valid credential. */
    Minted mint(String key) {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        for (Duration limit = FIRST_WAIT; ; limit = doubled(limit, LONGEST_WAIT)) {
            try {
                return mintOnce(key);
            } catch (NotMinted e) {
                Duration wait = e.asked().plus(random(limit));
                if (!e.repeatable || System.nanoTime() + wait.toNanos() - end > 0) {
                    throw e;
                }
                sleep(wait);
            }
        }
    }

    private static void sleep(Duration wait) {
        try {
            Thread.sleep(wait.toMillis());
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static NotMinted interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new NotMinted("Interrupted while waiting for Mintmark", false, Duration.ZERO, e);
    }

    Minted mintOnce(String key) {
        HttpRequest request;
        try {
            request = request(key);
        } catch (IOException e) {
            throw new NotMinted("Cannot read the identity token: " + e, false, Duration.ZERO, e);
        }
        Instant asked = clock.instant();
        try {
            return minted(key, asked, http.send(request, HttpResponse.BodyHandlers.ofString()));
        } catch (ConnectException | HttpConnectTimeoutException e) {
            throw new NotMinted("Cannot reach %s: %s".formatted(url, e), true, Duration.ZERO, e);
        } catch (IOException e) {
            throw new NotMinted(
                    "%s: no answer from %s: %s".formatted(unknown(key), url, e),
                    false,
                    AFTER_UNKNOWN,
                    e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static String unknown(String key) {
        return "Mintmark may have issued a login for key '%s'; the audit log shows whether it did"
                .formatted(key);
    }

    private HttpRequest request(String key) throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(url.resolve("/credentials/mint"))
                        .timeout(TIMEOUT)
                        .header("Authorization", "Bearer " + Files.readString(tokenFile).strip())
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"keys\":[\"" + key + "\"]}"));
        String actor = System.getProperty(ACTOR, System.getenv("MINTMARK_ACTOR_TOKEN_FILE"));
        if (actor != null && !actor.isEmpty()) {
            request.header("Mintmark-Actor-Token", Files.readString(Path.of(actor)).strip());
        }
        return request.build();
    }

    private Minted minted(String key, Instant asked, HttpResponse<String> response) {
        Map<String, String> members = members(response.body());
        int status = response.statusCode();
        if (status != OK || !members.containsKey("expiresAt")) {
            boolean unknown = UNKNOWN.contains(status);
            throw new NotMinted(
                    "%s: status %d, %s (request %s)"
                            .formatted(
                                    unknown
                                            ? unknown(key)
                                            : "Mintmark issued no login for key '%s'".formatted(key),
                                    status,
                                    members.getOrDefault("message", "no message"),
                                    members.getOrDefault("requestId", "unknown")),
                    LATER.contains(status),
                    unknown ? AFTER_UNKNOWN : wait(response),
                    null);
        }
        Instant issued = Instant.parse(members.get("issuedAt"));
        compareClocks(Duration.between(issued, clock.instant()));
        Duration life = Duration.between(issued, Instant.parse(members.get("expiresAt")));
        return new Minted(members, asked, life);
    }

    private static Duration wait(HttpResponse<String> response) {
        String header = response.headers().firstValue("Retry-After").orElse("");
        Matcher body = RETRY_AFTER.matcher(response.body());
        String seconds = body.find() ? body.group(1) : header;
        return Duration.ofSeconds(seconds.matches("[0-9]{1,6}") ? Long.parseLong(seconds) : 0);
    }

    /** Says once that the clocks differ, and once more when they don't. */
    private void compareClocks(Duration ahead) {
        boolean differ = ahead.abs().compareTo(CLOCK_TOLERANCE) > 0;
        if (differ && !clocksDiffer) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The clock of this machine is {0} s {1} the broker''s; correct the clock",
                    Long.toString(ahead.abs().toSeconds()),
                    ahead.isNegative() ? "behind" : "ahead of");
        } else if (clocksDiffer && !differ) {
            LOG.log(System.Logger.Level.INFO, "The clock of this machine agrees with the broker's");
        }
        clocksDiffer = differ;
    }

    /** All members of a JSON document whose values are texts. An answer has each name once. */
    private static Map<String, String> members(String json) {
        Map<String, String> members = new ConcurrentHashMap<>();
        for (Matcher member = MEMBER.matcher(json); member.find(); ) {
            members.put(unescaped(member.group(1)), unescaped(member.group(2)));
        }
        return members;
    }

    private static String unescaped(String text) {
        return ESCAPE.matcher(text)
                .replaceAll(escape ->
                        Matcher.quoteReplacement(
                                escape.group(1) == null
                                        ? letter(escape.group(2))
                                        : String.valueOf(
                                                (char) Integer.parseInt(escape.group(1), 16))));
    }

    private static String letter(String escaped) {
        return switch (escaped) {
            case "b" -> "\b";
            case "f" -> "\f";
            case "n" -> "\n";
            case "r" -> "\r";
            case "t" -> "\t";
            default -> escaped;
        };
    }
}
