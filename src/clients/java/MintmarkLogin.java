package io.mintmark.client;

import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.util.Credentials;

import org.postgresql.plugin.AuthenticationPlugin;
import org.postgresql.plugin.AuthenticationRequestType;

import java.net.URI;
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
 * <p>Copy this file and {@code MintmarkBroker.java}. They need Java 17, HikariCP 7.0 and, for {@link
 * Password}, the JDBC driver of PostgreSQL. Remove {@link Password} if you don't use it.
 */
public final class MintmarkLogin implements HikariCredentialsProvider {
    private static final System.Logger LOG = System.getLogger(MintmarkLogin.class.getName());

    /** Waits after a failure are random, up to a limit that doubles from the first to the second. */
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /** However short a login's life seems to be. Doubles with each that is shorter. */
    private static final Duration SHORTEST_LIFE = Duration.ofSeconds(30);

    private static final Duration LONGEST_FLOOR = Duration.ofMinutes(15);

    /** What a connection may take from here to the server's look at the login. */
    private static final Duration TO_LOG_IN = Duration.ofSeconds(5);

    private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");
    private static final List<String> USERS = List.of("PGUSER", "Username");
    private static final List<String> PASSWORDS =
            List.of(
                    "PGPASSWORD",
                    "Password",
                    "ACCESS_TOKEN",
                    "GOOGLE_OAUTH_ACCESS_TOKEN",
                    "AZURE_ACCESS_TOKEN");

    private final MintmarkBroker broker;
    private final String key;
    private final InstantSource clock;
    private final ReentrantLock minting = new ReentrantLock();
    private volatile Login kept = new Login(Map.of(), Moment.PAST, Moment.PAST);
    private volatile Moment nextTry = Moment.PAST;
    private volatile Duration pause = FIRST_PAUSE;
    private volatile Duration floor = SHORTEST_LIFE;
    private volatile MintmarkBroker.NotMinted failure;

    /** A time by whichever clock reaches it first, because the system's may be set back. */
    private record Moment(Instant wall, long steady) {
        static final Moment PAST = new Moment(Instant.MIN, System.nanoTime());

        static Moment after(Duration wait, Instant now) {
            return new Moment(now.plus(wait), System.nanoTime() + wait.toNanos());
        }

        boolean hasCome(Instant now) {
            return !now.isBefore(wall) || System.nanoTime() - steady >= 0;
        }
    }

    private record Login(Map<String, String> members, Moment renewal, Moment end) {

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
            return "a login until " + end.wall();
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
        this.broker = new MintmarkBroker(broker, tokenFile, clock);
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
        if (login.end().hasCome(clock.instant())) {
            return waitedFor();
        }
        if (isDue() && !minting.isLocked()) {
            Thread thread = new Thread(this::renewBeside, "mintmark-login-" + key);
            thread.setDaemon(true);
            thread.start();
        }
        return login;
    }

    private boolean isDue() {
        Instant now = clock.instant();
        return kept.renewal().hasCome(now) && nextTry.hasCome(now);
    }

    /** Connections that wait for the same login share one mint, and its failure. */
    private Login waitedFor() {
        minting.lock();
        try {
            if (kept.end().hasCome(clock.instant())) {
                if (failure != null && !nextTry.hasCome(clock.instant())) {
                    throw new IllegalStateException(failure.getMessage(), failure);
                }
                kept = mint(true);
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
            if (isDue()) {
                kept = mint(false);
            }
        } catch (RuntimeException e) {
            // the old login still works, and a later connection starts the next try
            LOG.log(System.Logger.Level.WARNING, "The login could not be renewed: {0}", e.getMessage());
        } finally {
            minting.unlock();
        }
    }

    /** Mints, and says when the next try may be if that fails. */
    private Login mint(boolean repeat) {
        try {
            MintmarkBroker.Minted minted = repeat ? broker.mint(key) : broker.mintOnce(key);
            pause = FIRST_PAUSE;
            nextTry = Moment.PAST;
            failure = null;
            return login(minted);
        } catch (MintmarkBroker.NotMinted e) {
            nextTry = Moment.after(e.asked().plus(MintmarkBroker.random(pause)), clock.instant());
            pause = MintmarkBroker.doubled(pause, LONGEST_PAUSE);
            failure = e;
            throw e;
        }
    }

    /** Counted from when it came, because the broker's clock may differ. */
    private Login login(MintmarkBroker.Minted minted) {
        Duration life = plausible(minted.life());
        int percent = ThreadLocalRandom.current().nextInt(60, 75);
        return new Login(
                minted.members(),
                Moment.after(life.multipliedBy(percent).dividedBy(100), minted.came()),
                Moment.after(life.minus(TO_LOG_IN), minted.came()));
    }

    /** A login that seems to be over when it comes must not be minted again for each connection. */
    private Duration plausible(Duration life) {
        if (life.compareTo(SHORTEST_LIFE) >= 0) {
            floor = SHORTEST_LIFE;
            return life;
        }
        Duration least = floor;
        floor = MintmarkBroker.doubled(floor, LONGEST_FLOOR);
        return least;
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
