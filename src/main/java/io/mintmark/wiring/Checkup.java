package io.mintmark.wiring;

import io.mintmark.config.BrokerSettings;
import io.mintmark.config.DatabaseSettings;
import io.mintmark.config.InvalidSettings;
import io.mintmark.config.SettingsReader;
import io.mintmark.identity.UnusableSigningKeysException;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Looks at all that a start needs, starts nothing, and finds all that is wrong at once. */
public final class Checkup {
    private static final Duration IDENTITY_PATIENCE = Duration.ofSeconds(15);
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** What is looked at, in this order. */
    public enum Area {
        SETTINGS,
        KEYS,
        DATABASE,
        ROLES,
        SCHEMA,
        IDENTITY
    }

    /**
     * What was found in an area.
     *
     * @param faults a line for each; none if all is well
     * @param note what else there is to know, such as why it couldn't be looked at
     */
    public record Finding(Area area, List<String> faults, Optional<String> note) {
        public Finding {
            faults = List.copyOf(faults);
        }

        static Finding of(Area area, List<String> faults) {
            return new Finding(area, faults, Optional.empty());
        }

        static Finding unknown(Area area, String why) {
            return new Finding(area, List.of(), Optional.of("not looked at: " + why));
        }
    }

    private final SettingsReader settings;
    private final InstantSource clock;

    public Checkup(SettingsReader settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** One finding for each area. */
    public List<Finding> run() {
        List<String> wrong = new ArrayList<>();
        unlessInvalid(settings::all, wrong);
        List<Finding> findings = new ArrayList<>();
        findings.add(Finding.of(Area.SETTINGS, wrong));
        findings.add(keys());
        findings.addAll(database());
        findings.add(identity());
        return findings;
    }

    private Finding keys() {
        List<String> faults = new ArrayList<>();
        var audit = unlessInvalid(settings::audit, new ArrayList<>());
        audit.ifPresent(
                known -> unlessUnusable(() -> AuditKey.read(known.signingKeyFile()), faults));
        var broker = broker();
        broker.ifPresent(known -> unlessUnusable(() -> identity(known), faults));
        boolean allSeen = audit.isPresent() && broker.isPresent();
        return allSeen || !faults.isEmpty()
                ? Finding.of(Area.KEYS, faults)
                : unknownWithoutSettings(Area.KEYS);
    }

    private List<Finding> database() {
        Optional<DatabaseSettings> database = unlessInvalid(settings::database, new ArrayList<>());
        return database.map(known -> new DatabaseCheckup(known, clock).run())
                .orElseGet(() ->
                        List.of(
                                unknownWithoutSettings(Area.DATABASE),
                                unknownWithoutSettings(Area.ROLES),
                                unknownWithoutSettings(Area.SCHEMA)));
    }

    private Finding identity() {
        return broker().flatMap(broker -> unlessUnusable(() -> identity(broker), new ArrayList<>()))
                .map(Checkup::identity)
                .orElseGet(() -> Finding.unknown(Area.IDENTITY, "its settings or keys are wrong"));
    }

    /** A token that has to be asked for comes a moment later, or the log says why it doesn't. */
    private static Finding identity(OwnIdentity identity) {
        try (OwnIdentity asked = identity.start()) {
            long end = System.nanoTime() + IDENTITY_PATIENCE.toNanos();
            Optional<String> fault = asked.shown().fault();
            while (fault.isPresent() && asked.isAsking() && System.nanoTime() < end) {
                LockSupport.parkNanos(PAUSE.toNanos());
                fault = asked.shown().fault();
            }
            return Finding.of(Area.IDENTITY, fault.stream().toList());
        }
    }

    private Optional<BrokerSettings> broker() {
        return unlessInvalid(settings::broker, new ArrayList<>());
    }

    private OwnIdentity identity(BrokerSettings broker) {
        Authorities.read();
        Destinations destinations = new Destinations(settings.outbound().allowedHosts());
        return new OwnIdentity(broker, new GuardedHttp(destinations), clock);
    }

    private static Finding unknownWithoutSettings(Area area) {
        return Finding.unknown(area, "its settings are wrong");
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
            // told among the settings
            return Optional.empty();
        }
        return Optional.empty();
    }
}
