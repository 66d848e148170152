package io.mintmark.broker.wiring;

import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.metrics.ProcessGauges;
import io.mintmark.broker.identity.BuiltInIdentity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What must be replaced some day: the ports' certificates, and keys by their age.
 *
 * @param keyFiles files whose age is that of their key, by their settings
 */
public record Expiries(
        List<PortTls> ports,
        Optional<BuiltInIdentity> identity,
        Map<String, Path> keyFiles,
        InstantSource clock) {
    public Expiries {
        ports = List.copyOf(ports);
        keyFiles = Collections.unmodifiableMap(new TreeMap<>(keyFiles));
    }

    static final String SIGNING_KEYS = "BROKER_SIGNING_KEYS_DIR";
    private static final String AUDIT_KEY = "AUDIT_SIGNING_KEY_FILE";

    /** The time before an expiry from which on it is logged as a warning. */
    private static final Duration SOON = Duration.ofDays(14);

    static Expiries of(Prepared prepared) {
        return new Expiries(
                prepared.certificates().all(),
                prepared.identity().issuer(),
                signing(prepared.settings().audit()),
                prepared.clock());
    }

    /** The file whose last key signs the audit log; none if a key in a token does. */
    public static Map<String, Path> signing(AuditSettings audit) {
        return audit.signingKeyFile()
                .filter(_ -> audit.signingKeys().isEmpty())
                .map(file -> Map.of(AUDIT_KEY, file))
                .orElseGet(Map::of);
    }

    void show(ProcessGauges gauges) {
        ports.forEach(port -> gauges.showNotAfter(port.file().setting(), port::notAfter));
        identity.ifPresent(keys -> gauges.showKeyAge(SIGNING_KEYS, keys::keyAge));
        keyFiles.forEach((setting, file) -> gauges.showKeyAge(setting, () -> age(file)));
    }

    /** The time since the file was written; empty if that isn't known. */
    private Optional<Duration> age(Path file) {
        try {
            Instant written = Files.getLastModifiedTime(file).toInstant();
            return Optional.of(Duration.between(written, clock.instant()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A line for each certificate that expires soon. */
    public List<String> soon() {
        return ports.stream().filter(port -> isSoon(port.notAfter())).map(this::line).toList();
    }

    /** A line for each other certificate, and for each key. */
    public List<String> others() {
        List<String> lines = new ArrayList<>();
        ports.stream().filter(port -> !isSoon(port.notAfter())).map(this::line).forEach(lines::add);
        identity.flatMap(BuiltInIdentity::keyAge)
                .ifPresent(age ->
                        lines.add(
                                "%s: the signing key has been in use for %d days"
                                        .formatted(SIGNING_KEYS, age.toDays())));
        keyFiles.forEach((setting, file) ->
                age(file)
                        .ifPresent(age ->
                                lines.add(
                                        "%s: the file was written %d days ago"
                                                .formatted(setting, age.toDays()))));
        return lines;
    }

    private String line(PortTls port) {
        return line(port.file().setting() + ": the certificate", port.notAfter(), clock.instant());
    }

    private boolean isSoon(Instant notAfter) {
        return isSoon(notAfter, clock.instant());
    }

    /** Whether an expiry is near enough for a warning. */
    public static boolean isSoon(Instant notAfter, Instant now) {
        return notAfter.isBefore(now.plus(SOON));
    }

    /** A line about something that expires. */
    public static String line(String what, Instant notAfter, Instant now) {
        return "%s expires in %d days, at %s"
                .formatted(what, Duration.between(now, notAfter).toDays(), notAfter);
    }
}
