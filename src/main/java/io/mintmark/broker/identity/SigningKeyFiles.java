package io.mintmark.broker.identity;

import com.nimbusds.jose.jwk.JWK;

import io.mintmark.base.file.RegularFile;
import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.key.SigningKey;
import io.mintmark.base.outbound.Secret;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The directory {@code BROKER_SIGNING_KEYS_DIR}: files {@code YYYY-MM-DD.pem}, one key each. Names
 * that begin with a dot are passed over, since Kubernetes keeps its own entries in the volumes that
 * it mounts.
 */
final class SigningKeyFiles {
    /** An RSA key of 16,384 bits has 13 KiB. */
    private static final int MOST_BYTES = 64 << 10;

    private static final String SUFFIX = ".pem";

    private final Path directory;
    private final InstantSource clock;

    SigningKeyFiles(Path directory, InstantSource clock) {
        this.directory = directory;
        this.clock = clock;
    }

    /**
     * The contents of the files now, by name.
     *
     * @throws UnusableSigningKeysException if they can't be read
     */
    Map<Path, Secret> contents() {
        Map<Path, Secret> contents = new TreeMap<>();
        for (Path file : files()) {
            contents.put(file, content(file));
        }
        return contents;
    }

    /**
     * All keys of these files.
     *
     * @param auditKeys the thumbprints of the audit log's keys: providers would trust what they
     *     sign, and a thief of one key would have both
     * @throws UnusableSigningKeysException if there is none, or one file isn't one
     */
    SigningKeys keys(Map<Path, Secret> contents, Set<String> auditKeys) {
        var byDay = new TreeMap<LocalDate, SigningKey>();
        Map<String, Path> fileByKey = new HashMap<>();
        for (Map.Entry<Path, Secret> entry : contents.entrySet()) {
            Path file = entry.getKey();
            LocalDate day = day(file);
            SigningKey key = key(file, entry.getValue());
            if (auditKeys.contains(key.id())) {
                throw unusable(
                        "%s holds a key of AUDIT_SIGNING_KEY_FILE; the audit log needs a key of its own"
                                .formatted(file));
            }
            Path same = fileByKey.putIfAbsent(key.id(), file);
            if (same != null) {
                throw unusable("%s holds the same key as %s".formatted(file, same));
            }
            byDay.put(day, key);
        }
        if (byDay.isEmpty()) {
            throw new UnusableSigningKeysException(
                    "BROKER_SIGNING_KEYS_DIR %s contains no signing key; make a key with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out %s"
                            .formatted(
                                    directory,
                                    directory.resolve(
                                            LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC)
                                                    + SUFFIX)));
        }
        return new SigningKeys(byDay);
    }

    private List<Path> files() {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UnusableSigningKeysException(
                    "BROKER_SIGNING_KEYS_DIR %s can't be read as a directory; set one that the broker may read"
                            .formatted(directory));
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

    private Secret content(Path file) {
        try {
            byte[] bytes = RegularFile.read(file, MOST_BYTES);
            return new Secret(new String(bytes, StandardCharsets.ISO_8859_1));
        } catch (RegularFile.Unfit e) {
            throw unusable("signing key file %s %s".formatted(file, e.getMessage()));
        } catch (AccessDeniedException e) {
            throw unusable(
                    "signing key file %s can't be read by the user that runs this program (chown and chmod it like the directory)"
                            .formatted(file));
        } catch (IOException e) {
            throw unusable("signing key file %s can't be read".formatted(file));
        }
    }

    private SigningKey key(Path file, Secret content) {
        try {
            JWK key = PrivateKeyPem.read(content.reveal());
            return SigningKey.of(key);
        } catch (PrivateKeyPem.UnfitException e) {
            throw unusable("signing key file %s %s".formatted(file, e.getMessage()));
        }
    }

    /** Without a command that creates a key: it could overwrite one that is still needed. */
    private static UnusableSigningKeysException unusable(String what) {
        return new UnusableSigningKeysException(what + "; correct that file or remove it");
    }
}
