package io.mintmark.admin.check;

import io.mintmark.admin.check.AreaFindings.Area;
import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LastSeal;
import io.mintmark.audit.log.LostRows;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.AuditSettings.OnLoss;
import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.InvalidSettings;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Database;
import io.mintmark.base.start.Authorities;
import io.mintmark.base.start.Certificates;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.identity.UnusableSigningKeysException;
import io.mintmark.broker.wiring.Expiries;
import io.mintmark.broker.wiring.OwnIdentity;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Checks everything that a start needs, without starting anything, and reports all errors at once.
 */
public final class Checkup {
    private static final Duration IDENTITY_PATIENCE = Duration.ofSeconds(15);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final SettingsReader settings;
    private final InstantSource clock;

    public Checkup(SettingsReader settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** One finding for each area. */
    public List<AreaFindings> run() {
        List<String> wrong = new ArrayList<>();
        List<String> notes = new ArrayList<>(settings.warnings());
        unlessInvalid(settings::all, wrong).flatMap(Checkup::untrustedProxy).ifPresent(notes::add);
        List<AreaFindings> findings = new ArrayList<>();
        findings.add(new AreaFindings(Area.SETTINGS, wrong, notes));
        findings.add(keys());
        findings.addAll(database());
        findings.add(identity());
        return findings;
    }

    /** A broker that serves plain HTTP has a reverse proxy in front that terminates TLS. */
    private static Optional<String> untrustedProxy(ServiceSettings settings) {
        boolean isBehindProxy =
                settings.broker().url().filter(url -> "https".equals(url.getScheme())).isPresent();
        return isBehindProxy
                        && settings.server().tls().isEmpty()
                        && settings.rateLimit().trustedProxies().isEmpty()
                ? Optional.of(
                        "TRUSTED_PROXIES is empty, but BROKER_URL is https, so a reverse proxy is in front of the broker: all clients behind it share one rate limit and one address in the audit log. Set TRUSTED_PROXIES to the proxy's addresses.")
                : Optional.empty();
    }

    private AreaFindings keys() {
        List<String> faults = new ArrayList<>();
        var audit = unlessInvalid(settings::audit, new ArrayList<>());
        Optional<SealingKeys> seals =
                audit.flatMap(known -> unlessUnusable(() -> AuditKey.read(known, held()), faults));
        var broker = broker();
        Optional<OwnIdentity> identity =
                broker.flatMap(known -> unlessUnusable(() -> identity(known), faults));
        seals.ifPresent(keys -> identity.ifPresent(own -> requireOwn(audit, keys, own, faults)));
        List<String> facts = new ArrayList<>();
        seals.ifPresent(keys ->
                broker.flatMap(own ->
                                unlessUnusable(
                                        () ->
                                                WitnessCheckup.facts(
                                                        keys, audit.orElseThrow(), held(), own),
                                        faults))
                        .ifPresent(facts::addAll));
        var tls = unlessInvalid(settings::tls, new ArrayList<>());
        List<PortTls> ports = new ArrayList<>();
        tls.ifPresent(known -> known.forEach(files -> addPort(files, ports, faults)));
        Map<String, Path> keyFiles = new HashMap<>();
        seals.flatMap(_ -> audit).map(Expiries::signing).ifPresent(keyFiles::putAll);
        // a console's, where one is configured beside the broker
        unlessInvalid(settings::console, new ArrayList<>())
                .ifPresent(console -> {
                    console.tls().ifPresent(files -> addPort(files, ports, faults));
                    keyFiles.put("CONSOLE_COOKIE_KEY_FILE", console.cookieKeyFile());
                });
        boolean allSeen = audit.isPresent() && broker.isPresent() && tls.isPresent();
        if (!allSeen && faults.isEmpty()) {
            return unknownWithoutSettings(Area.KEYS);
        }
        Expiries expiries =
                new Expiries(ports, identity.flatMap(OwnIdentity::issuer), keyFiles, clock);
        List<String> notes = new ArrayList<>(expiries.soon());
        identity.flatMap(_ -> unlessInvalid(settings::admin, new ArrayList<>()))
                .map(FilesInUse::refused)
                .ifPresent(notes::addAll);
        facts.addAll(expiries.others());
        return new AreaFindings(Area.KEYS, faults, notes, facts);
    }

    private static void addPort(TlsFiles files, List<PortTls> ports, List<String> faults) {
        unlessUnusable(() -> Certificates.read(files), faults).ifPresent(ports::add);
    }

    private static void requireOwn(
            Optional<AuditSettings> audit,
            SealingKeys keys,
            OwnIdentity identity,
            List<String> faults) {
        var _ =
                unlessUnusable(
                        () -> {
                            AuditKey.requireOwn(audit.orElseThrow(), keys, identity.keyIds());
                            return keys;
                        },
                        faults);
    }

    /**
     * The faults of the audit log's keys; none if they can't be read, which is reported elsewhere.
     */
    private List<String> sealing(Database database) {
        Optional<AuditSettings> audit = unlessInvalid(settings::audit, new ArrayList<>());
        return audit.flatMap(known ->
                        unlessUnusable(() -> AuditKey.read(known, held()), new ArrayList<>())
                                .map(keys -> sealing(known, keys, database)))
                .orElse(List.of());
    }

    private static List<String> sealing(AuditSettings known, SealingKeys keys, Database database) {
        LastSeal last = new LastSeal(database);
        return Stream.concat(
                        AuditKey.foreign(known, keys, last.signer(), last::signers).stream(),
                        unacknowledged(known, keys, database).stream())
                .toList();
    }

    /** Reports a loss that isn't acknowledged and keeps all replicas from minting. */
    private static Optional<String> unacknowledged(
            AuditSettings known, SealingKeys keys, Database database) {
        boolean isLost =
                known.onLoss() == OnLoss.STOP
                        && !new LostRows(database, new TrustedKeys(keys.published()))
                                .unacknowledged()
                                .isEmpty();
        return isLost
                ? Optional.of(
                        "AUDIT_ON_LOSS: the database lost rows of the audit log or of the configuration's history (runtime.lost_row lists them), so no replica mints; repeat the lost revocations, then run mintmark audit acknowledge-loss")
                : Optional.empty();
    }

    private <T> List<T> ofTenants(Function<TenantSecrets, List<T>> what) {
        return unlessInvalid(settings::all, new ArrayList<>())
                .map(known ->
                        what.apply(
                                new TenantSecrets(
                                        known.secretsDir(),
                                        held(),
                                        new Destinations(settings.allowedHosts()),
                                        clock)))
                .orElse(List.of());
    }

    private List<String> tenantFaults(Database read) {
        return Stream.concat(
                        ofTenants(secrets -> secrets.faults(read)).stream(),
                        OwnIssuerRows.notes(broker(), read).stream())
                .toList();
    }

    private List<AreaFindings> database() {
        Optional<DatabaseSettings> database = unlessInvalid(settings::database, new ArrayList<>());
        return database.map(known ->
                        new DatabaseCheckup(
                                        known,
                                        clock,
                                        this::sealing,
                                        this::tenantFaults,
                                        read -> ofTenants(secrets -> secrets.expiries(read)))
                                .run())
                .orElseGet(() ->
                        List.of(
                                unknownWithoutSettings(Area.DATABASE),
                                unknownWithoutSettings(Area.ROLES),
                                unknownWithoutSettings(Area.SCHEMA)));
    }

    private AreaFindings identity() {
        return broker().flatMap(broker -> unlessUnusable(() -> identity(broker), new ArrayList<>()))
                .map(Checkup::identity)
                .orElseGet(() ->
                        AreaFindings.unknown(
                                Area.IDENTITY,
                                "the settings or keys of the broker's identity have the errors above"));
    }

    /** A token that has to be asked for comes a moment later, or the log says why it doesn't. */
    private static AreaFindings identity(OwnIdentity identity) {
        try (OwnIdentity asked = identity.start()) {
            long end = System.nanoTime() + IDENTITY_PATIENCE.toNanos();
            Optional<String> fault = asked.shown().fault();
            while (fault.isPresent() && asked.isAsking() && System.nanoTime() < end) {
                LockSupport.parkNanos(PAUSE.toNanos());
                fault = asked.shown().fault();
            }
            return AreaFindings.of(Area.IDENTITY, fault.stream().toList());
        }
    }

    private Optional<BrokerSettings> broker() {
        return unlessInvalid(settings::broker, new ArrayList<>());
    }

    private OwnIdentity identity(BrokerSettings broker) {
        Authorities.read();
        Destinations destinations = new Destinations(settings.allowedHosts());
        return new OwnIdentity(broker, held(), new GuardedHttp(destinations), Set.of(), clock);
    }

    private HeldKeys held() {
        return new HeldKeys(settings.pkcs11());
    }

    private static AreaFindings unknownWithoutSettings(Area area) {
        return AreaFindings.unknown(area, "the settings for this check have the errors above");
    }

    private static <T> Optional<T> unlessInvalid(Supplier<T> reading, List<String> faults) {
        try {
            return Optional.of(reading.get());
        } catch (InvalidSettings e) {
            faults.addAll(e.complaints());
            return Optional.empty();
        }
    }

    private static <T> Optional<T> unlessUnusable(Supplier<T> reading, List<String> faults) {
        try {
            return Optional.of(reading.get());
        } catch (StartFailed | UnusableSigningKeysException e) {
            faults.add(String.valueOf(e.getMessage()));
        } catch (InvalidSettings e) {
            // reported with the settings
            return Optional.empty();
        }
        return Optional.empty();
    }
}
