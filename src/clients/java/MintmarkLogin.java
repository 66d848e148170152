package io.mintmark.client;

import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.util.Credentials;

import org.postgresql.plugin.AuthenticationPlugin;
import org.postgresql.plugin.AuthenticationRequestType;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The login of one key of Mintmark, for a connection pool. All connections share one login. At a
 * random moment between 60 and 75 % of its life, a new one is minted beside the pool, and later
 * connections get the new one. A connection waits only for the first login, and after an outage of
 * the broker that outlasted a login.
 *
 * <p>Set the pool's {@code maxLifetime} to less than a quarter of the key's {@code max_duration}:
 * the connections of a login end with the login.
 *
 * <p>Copy this file. It needs Java 17, HikariCP 7.0 and, for {@link Password}, the JDBC driver of
 * PostgreSQL. Remove {@link Password} if you don't use it.
 */
public final class MintmarkLogin implements HikariCredentialsProvider {
    private static final System.Logger LOG = System.getLogger(MintmarkLogin.class.getName());
    private static final int OK = 200;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration BETWEEN_TRIES = Duration.ofSeconds(5);

    /** What a connection may take from here to the server's look at the login. */
    private static final Duration TO_LOG_IN = Duration.ofSeconds(5);

    private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");
    private static final String TEXT = "\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"";
    private static final Pattern MEMBER = Pattern.compile(TEXT + "\\s*:\\s*" + TEXT);
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))");
    private static final List<String> USERS = List.of("PGUSER", "Username");
    private static final List<String> PASSWORDS =
            List.of(
                    "PGPASSWORD",
                    "Password",
                    "ACCESS_TOKEN",
                    "GOOGLE_OAUTH_ACCESS_TOKEN",
                    "AZURE_ACCESS_TOKEN");

    /** The file with the token of who acts for the subject, if anybody does. */
    private static final String ACTOR = "mintmark.actorTokenFile";

    private final URI broker;
    private final Path tokenFile;
    private final String key;
    private final InstantSource clock;
    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(TIMEOUT)
                    .build();
    private final ReentrantLock minting = new ReentrantLock();
    private volatile Login kept = new Login(Map.of(), Instant.MIN, Instant.MIN);
    private volatile Instant nextTry = Instant.MIN;

    private record Login(Map<String, String> members, Instant renewal, Instant end) {

        String first(List<String> names) {
            return names.stream()
                    .filter(members::containsKey)
                    .findFirst()
                    .map(members::get)
                    .orElseThrow(
                            () -> new IllegalStateException("The key has none of the outputs " + names));
        }

        @Override
        public String toString() {
            return "a login until " + end;
        }
    }

    /**
     * @param broker the broker's URL: https, except on this machine
     * @param tokenFile the file of the identity token, which is read again for each login
     * @param key the key's name
     * @param clock the system's, except in tests
     */
    public MintmarkLogin(URI broker, Path tokenFile, String key, InstantSource clock) {
        if (!"https".equals(broker.getScheme())
                && !List.of("localhost", "127.0.0.1", "[::1]").contains(broker.getHost())) {
            throw new IllegalArgumentException(
                    "The broker's URL must be https, because it gets identity tokens: " + broker);
        }
        if (!KEY.matcher(key).matches()) {
            throw new IllegalArgumentException("Not the name of a key: " + key);
        }
        this.broker = broker;
        this.tokenFile = tokenFile;
        this.key = key;
        this.clock = clock;
    }

    /** By the variables MINTMARK_URL, MINTMARK_TOKEN_FILE and MINTMARK_DATABASE_KEY. */
    public MintmarkLogin() {
        this(new Properties());
    }

    private MintmarkLogin(Properties properties) {
        this(
                URI.create(setting(properties, "mintmarkUrl", "MINTMARK_URL")),
                Path.of(setting(properties, "mintmarkTokenFile", "MINTMARK_TOKEN_FILE")),
                setting(properties, "mintmarkKey", "MINTMARK_DATABASE_KEY"),
                InstantSource.system());
    }

    private static String setting(Properties properties, String property, String variable) {
        String value = properties.getProperty(property, System.getenv(variable));
        if (value == null || value.isEmpty()) {
            throw new IllegalStateException("Set the environment variable " + variable);
        }
        return value;
    }

    /** Called for each new connection: user and password of the same login. */
    @Override
    public Credentials getCredentials() {
        Login login = current();
        return Credentials.of(login.first(USERS), login.first(PASSWORDS));
    }

    /** The password alone, for servers whose users stay the same. */
    public String password() {
        return current().first(PASSWORDS);
    }

    private Login current() {
        Login login = kept;
        Instant now = clock.instant();
        if (!now.isBefore(login.end())) {
            return waitedFor();
        }
        if (!now.isBefore(login.renewal()) && !now.isBefore(nextTry)) {
            nextTry = now.plus(BETWEEN_TRIES);
            Thread thread = new Thread(this::renewBeside, "mintmark-login-" + key);
            thread.setDaemon(true);
            thread.start();
        }
        return login;
    }

    private Login waitedFor() {
        minting.lock();
        try {
            if (!clock.instant().isBefore(kept.end())) {
                kept = mint();
            }
            return kept;
        } finally {
            minting.unlock();
        }
    }

    private void renewBeside() {
        if (!minting.tryLock()) {
            return;
        }
        try {
            kept = mint();
        } catch (RuntimeException e) {
            // the old login still works, and a later connection starts the next try
            LOG.log(System.Logger.Level.WARNING, "The login could not be renewed: {0}", e.getMessage());
        } finally {
            minting.unlock();
        }
    }

    private Login mint() {
        try {
            String token = Files.readString(tokenFile).strip();
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(broker.resolve("/credentials/mint"))
                            .timeout(TIMEOUT)
                            .header("Authorization", "Bearer " + token)
                            .header("Content-Type", "application/json")
                            .POST(
                                    HttpRequest.BodyPublishers.ofString(
                                            "{\"keys\":[\"" + key + "\"]}"));
            String actor = System.getProperty(ACTOR, System.getenv("MINTMARK_ACTOR_TOKEN_FILE"));
            if (actor != null && !actor.isEmpty()) {
                String other = Files.readString(Path.of(actor)).strip();
                request.header("Mintmark-Actor-Token", other);
            }
            Instant now = clock.instant();
            HttpResponse<String> response =
                    http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            Map<String, String> members = members(response.body());
            if (response.statusCode() != OK || !members.containsKey("expiresAt")) {
                throw new IllegalStateException(
                        "Mintmark issued no login for key '%s': status %d, %s (request %s)"
                                .formatted(
                                        key,
                                        response.statusCode(),
                                        members.getOrDefault("message", "no message"),
                                        members.getOrDefault("requestId", "unknown")));
            }
            return login(members, now);
        } catch (IOException e) {
            throw new IllegalStateException("%s issued no login: %s".formatted(broker, e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + broker, e);
        }
    }

    /** Counted from now, because the broker's clock may differ. */
    private static Login login(Map<String, String> members, Instant now) {
        Duration life =
                Duration.between(
                        Instant.parse(members.get("issuedAt")),
                        Instant.parse(members.get("expiresAt")));
        return new Login(
                members,
                now.plus(life.multipliedBy(ThreadLocalRandom.current().nextInt(60, 75)).dividedBy(100)),
                now.plus(life).minus(TO_LOG_IN));
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

    /**
     * For {@code authenticationPluginClassName} of PostgreSQL's JDBC driver. The connection
     * properties {@code mintmarkKey}, {@code mintmarkUrl} and {@code mintmarkTokenFile} replace the
     * variables. The driver takes only the password from here, so this is for servers whose users
     * stay the same, such as Google's and Azure's. A login of type {@code postgresql} has a user of
     * its own, so give it to HikariCP.
     */
    public static final class Password implements AuthenticationPlugin {
        private static final Map<Properties, MintmarkLogin> LOGINS = new ConcurrentHashMap<>();

        private final MintmarkLogin login;

        /** As the driver does it, for each connection. */
        public Password(Properties connection) {
            Properties own = new Properties();
            connection.stringPropertyNames().stream()
                    .filter(name -> name.startsWith("mintmark"))
                    .forEach(name -> own.setProperty(name, connection.getProperty(name)));
            this.login = LOGINS.computeIfAbsent(own, MintmarkLogin::new);
        }

        @Override
        public char[] getPassword(AuthenticationRequestType type) {
            return login.password().toCharArray();
        }
    }
}
