package io.mintmark.broker.identity;

import io.mintmark.base.file.RereadFile;
import io.mintmark.base.key.SigningKey;
import io.mintmark.base.outbound.Secret;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The broker's keys as the directory last had them in full. Looking again takes over all of it or
 * nothing: where a file isn't a key, or none is left, the former keys go on signing. What the files
 * hold is compared, and not their times: volumes of Kubernetes swap links, and a copy may keep its
 * times. Keys in a token are those that the settings name, until the broker starts anew.
 */
final class SigningKeyDirectory {
    private static final Logger log = LoggerFactory.getLogger(SigningKeyDirectory.class);

    private final Optional<SigningKeyFiles> files;
    private final List<SigningKey> held;
    private final InstantSource clock;
    private volatile SigningKeys keys;
    private Map<Path, Secret> contents;
    private final RereadFile file = new RereadFile("BROKER_SIGNING_KEYS_DIR");

    /**
     * @param held keys in a token
     * @throws UnusableSigningKeysException if the directory's keys can't be used
     */
    SigningKeyDirectory(Optional<Path> directory, List<SigningKey> held, InstantSource clock) {
        this.files = directory.map(path -> new SigningKeyFiles(path, clock));
        this.held = List.copyOf(held);
        this.clock = clock;
        this.contents = files.map(SigningKeyFiles::contents).orElse(Map.of());
        this.keys =
                files.map(there -> there.keys(contents, Set.of()).with(held))
                        .orElseGet(() -> SigningKeys.held(held));
    }

    /** The keys, all of one state. */
    SigningKeys keys() {
        return keys;
    }

    /** Whether the directory is usable now, for the metrics; empty if there is none. */
    Optional<RereadFile> file() {
        return files.map(_ -> file);
    }

    /** The day that decides which key signs. */
    LocalDate today() {
        return LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
    }

    /**
     * Looks whether the directory holds something else now. What is wrong is logged once.
     *
     * @param auditKeys the thumbprints of keys that may not be among them
     */
    synchronized void look(Set<String> auditKeys) {
        files.ifPresent(there -> look(there, auditKeys));
    }

    private void look(SigningKeyFiles there, Set<String> auditKeys) {
        try {
            Map<Path, Secret> found = there.contents();
            if (!found.equals(contents)) {
                takeOver(there.keys(found, auditKeys).with(held));
                contents = found;
            }
            file.accepted();
        } catch (UnusableSigningKeysException e) {
            file.refused(String.valueOf(e.getMessage()));
        }
    }

    private void takeOver(SigningKeys found) {
        SigningKeys former = keys;
        keys = found;
        log.info("The signing keys are now {}, and {} signs", found, found.signer(today()));
        found.signers(today()).stream()
                .filter(key -> !former.includes(key))
                .forEach(key ->
                        log.warn(
                                "{} signs from now on, but providers that cache key sets may not know it yet. Name the file of a new key with tomorrow's date or a later one",
                                key));
    }
}
