package io.mintmark.identity;

import com.nimbusds.jose.jwk.JWK;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The directory {@code BROKER_SIGNING_KEYS_DIR}: files {@code YYYY-MM-DD.pem}, one key each. Names
 * that begin with a dot are passed over, since Kubernetes keeps its own entries in the volumes that
 * it mounts.
 */
final class SigningKeyFiles {
    private static final String SUFFIX = ".pem";

    private final Path directory;
    private final InstantSource clock;

    SigningKeyFiles(Path directory, InstantSource clock) {
        this.directory = directory;
        this.clock = clock;
    }

    /**
     * All keys, freshly read.
     *
     * @throws UnusableSigningKeysException if there is none, or one file isn't one
     */
    SigningKeys read() {
        var byDay = new TreeMap<LocalDate, SigningKey>();
        Map<String, Path> fileByKey = new HashMap<>();
        for (Path file : files()) {
            LocalDate day = day(file);
            SigningKey key = key(file);
            Path same = fileByKey.putIfAbsent(key.id(), file);
            if (same != null) {
                throw unusable("%s holds the same key as %s".formatted(file, same));
            }
            byDay.put(day, key);
        }
        if (byDay.isEmpty()) {
            throw unusable("BROKER_SIGNING_KEYS_DIR %s holds no signing key".formatted(directory));
        }
        return new SigningKeys(byDay);
    }

    private List<Path> files() {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw unusable(
                    "BROKER_SIGNING_KEYS_DIR %s can't be read as a directory".formatted(directory));
        }
    }

    private LocalDate day(Path file) {
        String name = file.getFileName().toString();
        try {
            if (name.endsWith(SUFFIX)) {
                return LocalDate.parse(name.substring(0, name.length() - SUFFIX.length()));
            }
        } catch (DateTimeParseException e) {
            // said below
        }
        throw unusable(
                "%s isn't named YYYY-MM-DD.pem, for the day (UTC) from which it signs"
                        .formatted(file));
    }

    private SigningKey key(Path file) {
        try {
            JWK key = PrivateKeyPem.read(Files.readString(file));
            return SigningKey.of(key);
        } catch (IOException e) {
            throw unusable("signing key file %s can't be read".formatted(file));
        } catch (PrivateKeyPem.UnfitException e) {
            throw unusable("signing key file %s %s".formatted(file, e.getMessage()));
        }
    }

    private UnusableSigningKeysException unusable(String what) {
        LocalDate today = LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
        return new UnusableSigningKeysException(
                "%s; a key is made with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out %s"
                        .formatted(what, directory.resolve(today + SUFFIX)));
    }
}
