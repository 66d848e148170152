package io.mintmark.broker.wiring;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.NoteKeys;
import io.mintmark.audit.checkpoint.OwnWitnesses;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.log.LastSeal;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.schema.LoginCheck;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.schema.SchemaCheck;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseHealth;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.start.Authorities;
import io.mintmark.base.start.Certificates;
import io.mintmark.base.start.DatabaseWait;
import io.mintmark.base.start.NoHelidonConfig;
import io.mintmark.base.start.Ports;
import io.mintmark.base.start.ProgramVersion;
import io.mintmark.base.start.StartFailed;
import io.mintmark.base.time.Clocks;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;

/** The start of the broker, step by step: from the settings to the first request. */
public final class Startup {
    private static final Logger log = LoggerFactory.getLogger(Startup.class);

    private final ServiceSettings settings;
    private final Clocks clocks;

    /**
     * A start with these settings.
     *
     * @param clock this machine's
     */
    public Startup(ServiceSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clocks = Clocks.of(clock);
    }

    /**
     * Starts the broker.
     *
     * @throws RuntimeException whose message says in one line what is wrong and what to do
     */
    public Broker run() {
        long began = System.nanoTime();
        NoHelidonConfig.only();
        SignatureCode signatures = SignatureCode.choose(settings.nativeSignatures());
        Destinations destinations = new Destinations(settings.allowedHosts());
        HeldKeys held = new HeldKeys(settings.pkcs11());
        SealingKeys seals =
                NoteKeys.add(
                        AuditKey.read(settings.audit(), held),
                        settings.audit(),
                        held,
                        settings.broker().issuer().or(settings.broker()::url));
        Optional<WitnessPolicy> witnesses = OwnWitnesses.of(seals, settings.audit());
        OwnIdentity identity =
                new OwnIdentity(
                        settings.broker(),
                        held,
                        new GuardedHttp(destinations),
                        seals.ids(),
                        clocks.own());
        AuditKey.requireOwn(settings.audit(), seals, identity.keyIds());
        Certificates certificates = Certificates.of(settings);
        Ports.requireFree(settings.server(), settings.admin());
        Authorities authorities = Authorities.reading();
        prepare(settings.database(), seals);
        authorities.await();
        Broker broker =
                Broker.start(
                        new Prepared(
                                settings,
                                destinations,
                                identity,
                                seals,
                                witnesses,
                                held,
                                certificates,
                                clocks,
                                signatures.awaited(),
                                replica()));
        log.info(
                "Mintmark serves on port {}, health and metrics on port {}, after {} ms",
                broker.port(),
                broker.adminPort(),
                Duration.ofNanos(System.nanoTime() - began).toMillis());
        return broker;
    }

    private void prepare(DatabaseSettings database, SealingKeys seals) {
        DatabaseWait wait = new DatabaseWait(database);
        if (database.migrate()) {
            int count = wait.get(() -> Migrations.of(database).runIfOlder());
            log.info("The schema is up to date; {} migrations ran", count);
        }
        try (Database opened = wait.get(() -> DatabaseWait.patient(database))) {
            Optional<String> power = wait.get(() -> check(opened));
            power.ifPresent(found -> judge(database, found));
            wait.get(() -> {
                continueSealing(seals, new LastSeal(opened));
                return opened;
            });
        }
    }

    /** Sees to it that the next checkpoint is signed by the last one's key, or announced by it. */
    private void continueSealing(SealingKeys seals, LastSeal sealed) {
        Optional<String> signer = sealed.signer();
        AuditKey.foreign(settings.audit(), seals, signer, sealed::signers)
                .ifPresent(fault -> {
                    throw new StartFailed(fault);
                });
        signer.filter(last -> !seals.ids().contains(last))
                .ifPresent(last ->
                        log.warn(
                                "AUDIT_KEY_REPLACED: the log continues without the key {} of its"
                                        + " last checkpoint; give auditors the new public key",
                                last));
    }

    /** Checks the database. Returns a warning if the login could change the audit log. */
    private Optional<String> check(Database database) {
        LoginCheck check = new LoginCheck(database);
        check.requireSchema();
        new SchemaCheck(database).require(ProgramVersion.current());
        new DatabaseHealth(database, clocks).requireSameTime();
        return check.power();
    }

    private static void judge(DatabaseSettings settings, String power) {
        Logins.tooMuchPower(settings, power)
                .ifPresent(fault -> {
                    throw new StartFailed(fault);
                });
        log.warn(
                "DATABASE_SINGLE_ROLE: login '{}' {}; an attacker who controls the broker "
                        + "could rewrite the audit log",
                settings.login().username(),
                power);
    }

    /**
     * The replica's name in the audit log: the host, and a number that distinguishes runs on it.
     */
    private static String replica() {
        String run = UUID.randomUUID().toString().substring(0, 8);
        try {
            return InetAddress.getLocalHost().getHostName() + "/" + run;
        } catch (UnknownHostException e) {
            return "unnamed/" + run;
        }
    }
}
