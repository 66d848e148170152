package io.mintmark.broker.identity;

import io.mintmark.base.file.RereadFile;
import io.mintmark.base.outbound.Secret;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;

/**
 * The broker's keys as the directory last had them in full. Looking again takes over all of it or
 * nothing: where a file isn't a key, or none is left, the former keys go on signing. What the files
 * hold is compared, and not their times: volumes of Kubernetes swap links, and a copy may keep its
 * times.
 */
final class SigningKeyDirectory {
    private static final Logger log = LoggerFactory.getLogger(SigningKeyDirectory.class);

    private final SigningKeyFiles files;
    private final InstantSource clock;
    private volatile SigningKeys keys;
    private Map<Path, Secret> contents;
    private final RereadFile file = new RereadFile("BROKER_SIGNING_KEYS_DIR");

    /**
     * @throws UnusableSigningKeysException if the directory's keys can't be used
     */
    SigningKeyDirectory(Path directory, InstantSource clock) {
        this.files = new SigningKeyFiles(directory, clock);
        this.clock = clock;
        this.contents = files.contents();
        this.keys = files.keys(contents, Set.of());
    }

    /** The keys, all of one state. */
    SigningKeys keys() {
        return keys;
    }

    /** Whether the directory is usable now, for the metrics. */
    RereadFile file() {
        return file;
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
        try {
            Map<Path, Secret> found = files.contents();
            if (!found.equals(contents)) {
                takeOver(files.keys(found, auditKeys));
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
                                "{} signs at once; providers that keep key sets may not know it"
                                        + " yet, so date new keys tomorrow or later",
                                key));
    }
}
