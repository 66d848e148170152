package io.mintmark.audit.checkpoint;

import io.mintmark.audit.note.NoteKeyFile;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.pkcs11.TokenKey;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.start.StartFailed;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.Optional;

/** Finds the key that signs notes for witnesses, or makes one. */
public final class NoteKeys {
    private static final Logger log = LoggerFactory.getLogger(NoteKeys.class);
    private static final String MADE = "audit-note.pem";

    private NoteKeys() {}

    /**
     * The keys that seal, with the key of notes where there is one.
     *
     * @param held the keys of the token
     * @param issuer whose log it is; without one, notes have no name
     * @throws StartFailed if the key that the settings name can't be used
     */
    public static SealingKeys add(
            SealingKeys keys, AuditSettings settings, HeldKeys held, Optional<URI> issuer) {
        return add(keys, settings, held, issuer, true);
    }

    /** Adds the key of notes to the keys that seal, if it exists. Doesn't create it. */
    public static SealingKeys find(
            SealingKeys keys, AuditSettings settings, HeldKeys held, Optional<URI> issuer) {
        return add(keys, settings, held, issuer, false);
    }

    private static SealingKeys add(
            SealingKeys keys,
            AuditSettings settings,
            HeldKeys held,
            Optional<URI> issuer,
            boolean make) {
        if (issuer.isEmpty()) {
            settings.noteKeyFile()
                    .map(file -> "AUDIT_NOTE_KEY_FILE: '%s'".formatted(file))
                    .or(() -> settings.noteKey().map(uri -> "AUDIT_NOTE_KEY: " + uri))
                    .ifPresent(key -> {
                        throw new StartFailed(
                                "%s is set, but notes need the broker's name; set BROKER_ISSUER or BROKER_URL"
                                        .formatted(key));
                    });
            return keys;
        }
        String name = name(issuer.get());
        return settings.noteKey()
                .map(uri -> inToken(uri, held, name))
                .or(() -> signer(settings, name, make))
                .map(keys::with)
                .orElse(keys);
    }

    private static NoteSigner inToken(Pkcs11Uri uri, HeldKeys held, String name) {
        try {
            TokenKey key = held.ed25519(uri);
            return new NoteSigner(name, new KeyPair(key.publicKey(), key));
        } catch (TokenUnavailable e) {
            throw new StartFailed("AUDIT_NOTE_KEY: " + e.getMessage());
        }
    }

    /** Origins have no scheme (c2sp.org/tlog-checkpoint). */
    private static String name(URI issuer) {
        return issuer.toString().substring(issuer.getScheme().length() + "://".length());
    }

    private static Optional<NoteSigner> signer(AuditSettings settings, String name, boolean make) {
        if (settings.noteKeyFile().isPresent()) {
            Path file = settings.noteKeyFile().get();
            try {
                return Optional.of(new NoteSigner(name, NoteKeyFile.read(file)));
            } catch (IOException e) {
                throw new StartFailed(
                        "AUDIT_NOTE_KEY_FILE: '%s' can't be used (%s); make a key with: openssl genpkey -algorithm ed25519 -out FILE"
                                .formatted(file, e.getMessage()));
            }
        }
        return settings.signingKeyFile()
                .map(file -> file.toAbsolutePath().resolveSibling(MADE))
                .filter(file -> make || Files.exists(file))
                .flatMap(file -> made(file, name));
    }

    private static Optional<NoteSigner> made(Path file, String name) {
        try {
            NoteKeyFile.make(file);
            return Optional.of(new NoteSigner(name, NoteKeyFile.read(file)));
        } catch (IOException e) {
            log.info(
                    "Checkpoints get no notes for witnesses, because the key file '{}' can't be"
                            + " created or read ({}); set AUDIT_NOTE_KEY_FILE",
                    file,
                    e.toString());
            return Optional.empty();
        }
    }
}
