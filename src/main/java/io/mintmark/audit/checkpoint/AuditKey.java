package io.mintmark.audit.checkpoint;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;

import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.file.RegularFile;
import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.start.StartFailed;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Reads the keys that seal the audit log; the broker never starts without one. */
public final class AuditKey {
    private static final Pattern PRIVATE_KEY =
            Pattern.compile(
                    "-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \\1-----", Pattern.DOTALL);

    private static final int MOST_BYTES = 256 << 10;

    private AuditKey() {}

    /**
     * Requires that no key of the audit log is one of the broker's identity. Providers would trust
     * what it signs, and a thief of one key would have both.
     *
     * @param identity the ids of the identity's keys
     * @throws StartFailed if one is
     */
    public static void requireOwn(
            AuditSettings settings, SealingKeys keys, Collection<String> identity) {
        if (!Collections.disjoint(identity, keys.ids())) {
            throw new StartFailed(
                    "%s holds a signing key of the broker's identity; the audit log needs a key of its own"
                            .formatted(named(settings)));
        }
    }

    /**
     * Why these keys can't go on where the log was last sealed; empty if they can. A key that
     * sealed before another one replaced it is the lost one, whatever the settings say.
     *
     * @param signer the thumbprint of the last checkpoint's key; empty if there is no checkpoint
     * @param signers the thumbprints of all keys that ever sealed the log; asked for only if the
     *     key of the last checkpoint is said to be lost
     */
    public static Optional<String> foreign(
            AuditSettings settings,
            SealingKeys keys,
            Optional<String> signer,
            Supplier<Set<String>> signers) {
        return signer.filter(last -> !keys.ids().contains(last))
                .flatMap(last -> foreign(settings, keys, last, signers));
    }

    private static Optional<String> foreign(
            AuditSettings settings, SealingKeys keys, String last, Supplier<Set<String>> signers) {
        if (!settings.keyReplaced()) {
            return Optional.of(
                    "%s doesn't contain the key %s, which sealed the last checkpoint. Put that key before the new one. If that key is lost, set AUDIT_KEY_REPLACED=true"
                            .formatted(named(settings), last));
        }
        return Optional.of(keys.signer())
                .filter(signers.get()::contains)
                .map(replaced ->
                        "%s: the key %s sealed earlier checkpoints and was then replaced by %s, so it must not sign any more. Use the new key. If no broker wrote the last checkpoint, unset AUDIT_KEY_REPLACED and run mintmark audit disown-checkpoint"
                                .formatted(named(settings), replaced, last));
    }

    /** The source of the keys, in words for messages. */
    private static String named(AuditSettings settings) {
        return settings.signingKeyFile()
                .map(file -> "AUDIT_SIGNING_KEY_FILE '%s'".formatted(file))
                .orElse("AUDIT_SIGNING_KEYS");
    }

    /**
     * Reads the keys of the file, then those of the token. The last one signs.
     *
     * @throws StartFailed if one can't be used
     */
    public static SealingKeys read(AuditSettings settings, HeldKeys held) {
        List<ECKey> keys = new ArrayList<>();
        settings.signingKeyFile().ifPresent(file -> keys.addAll(ofFile(file)));
        settings.signingKeys().forEach(uri -> keys.add(inToken(uri, held)));
        return new SealingKeys(keys);
    }

    private static ECKey inToken(Pkcs11Uri uri, HeldKeys held) {
        try {
            if (held.key(uri).jwk() instanceof ECKey key) {
                return key;
            }
        } catch (TokenUnavailable e) {
            throw new StartFailed("AUDIT_SIGNING_KEYS: " + e.getMessage());
        }
        throw new StartFailed(
                "AUDIT_SIGNING_KEYS: %s is not a P-256 key; name a P-256 key".formatted(uri));
    }

    private static List<ECKey> ofFile(Path file) {
        try {
            String text = RegularFile.text(file, MOST_BYTES);
            List<String> components =
                    PRIVATE_KEY.matcher(text).results().map(MatchResult::group).toList();
            return (components.isEmpty() ? List.of(text) : components)
                    .stream().map(part -> key(part, file)).toList();
        } catch (RegularFile.Unfit e) {
            throw unfit(file, String.valueOf(e.getMessage()));
        } catch (IOException | IllegalArgumentException e) {
            throw unfit(file, "can't be read as a private key in PEM");
        }
    }

    private static ECKey key(String pem, Path file) {
        try {
            JWK key = PrivateKeyPem.read(pem);
            if (key instanceof ECKey ec && Curve.P_256.equals(ec.getCurve())) {
                return ec;
            }
            throw unfit(file, "holds a key that isn't P-256");
        } catch (PrivateKeyPem.UnfitException e) {
            throw unfit(file, "holds no key to sign with: it " + e.getMessage());
        }
    }

    /** Without a command that creates a key: it could overwrite one that is still needed. */
    private static StartFailed unfit(Path file, String why) {
        return new StartFailed(
                "AUDIT_SIGNING_KEY_FILE: '%s' %s; set another file, with a P-256 private key in PEM"
                        .formatted(file, why));
    }
}
