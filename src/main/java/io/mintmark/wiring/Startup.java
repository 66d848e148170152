package io.mintmark.wiring;

import io.mintmark.audit.SealingKeys;
import io.mintmark.config.DatabaseSettings;
import io.mintmark.config.ServiceSettings;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.DatabaseHealth;
import io.mintmark.postgres.LoginCheck;
import io.mintmark.postgres.SchemaCheck;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;

/** What happens between the settings and a broker that serves, in this order. */
public final class Startup {
    private static final Logger log = LoggerFactory.getLogger(Startup.class);

    private final ServiceSettings settings;
    private final InstantSource clock;

    /**
     * A start with these settings.
     *
     * @param clock this machine's
     */
    public Startup(ServiceSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Starts the broker.
     *
     * @throws RuntimeException whose message says in one line what is wrong and what to do
     */
    public Broker run() {
        long began = System.nanoTime();
        OwnSettings.only();
        SignatureCode signatures = SignatureCode.choose(settings.crypto());
        Destinations destinations = new Destinations(settings.outbound().allowedHosts());
        OwnIdentity identity =
                new OwnIdentity(settings.broker(), new GuardedHttp(destinations), clock);
        SealingKeys seals = AuditKey.read(settings.audit().signingKeyFile());
        Ports.requireFree(settings.server(), settings.admin());
        Authorities authorities = Authorities.reading();
        prepare(settings.database());
        authorities.await();
        Broker broker =
                Broker.start(
                        new Prepared(
                                settings,
                                destinations,
                                identity,
                                seals,
                                clock,
                                signatures.awaited(),
                                replica()));
        log.info(
                "Mintmark serves on port {}, operators on port {}, after {} ms",
                broker.port(),
                broker.adminPort(),
                Duration.ofNanos(System.nanoTime() - began).toMillis());
        return broker;
    }

    private void prepare(DatabaseSettings settings) {
        DatabaseWait wait = new DatabaseWait(settings);
        if (settings.migrate()) {
            int count = wait.get(() -> Logins.migrations(settings).runIfOlder());
            log.info("The schema is up to date, {} migrations ran", count);
        }
        try (Database database = wait.get(() -> DatabaseWait.patient(settings))) {
            Optional<String> power = wait.get(() -> check(database));
            power.ifPresent(found -> judge(settings, found));
        }
    }

    /** What the login could do to the audit log. */
    private Optional<String> check(Database database) {
        LoginCheck check = new LoginCheck(database);
        check.requireSchema();
        new SchemaCheck(database).require(ProgramVersion.current());
        new DatabaseHealth(database, clock).requireSameTime();
        return check.power();
    }

    private static void judge(DatabaseSettings settings, String power) {
        Logins.tooMuchPower(settings, power)
                .ifPresent(fault -> {
                    throw new StartFailed(fault);
                });
        log.warn(
                "DATABASE_SINGLE_ROLE: login '{}' {}; whoever takes over the broker could rewrite"
                        + " the audit log",
                settings.login().username(),
                power);
    }

    /** A name for the audit log's readers: the host, and what tells two runs on it apart. */
    private static String replica() {
        String run = UUID.randomUUID().toString().substring(0, 8);
        try {
            return InetAddress.getLocalHost().getHostName() + "/" + run;
        } catch (UnknownHostException e) {
            return "unnamed/" + run;
        }
    }
}
