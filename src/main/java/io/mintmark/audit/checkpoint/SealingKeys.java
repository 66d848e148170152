package io.mintmark.audit.checkpoint;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.ECKey;

import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.base.pkcs11.TokenUnavailable;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The keys that seal the log: the last signs, the one before announces it. */
public final class SealingKeys {
    /** The length of a key's id, which is a SHA-256 in base64url (RFC 7638). */
    public static final int ID_LENGTH = 43;

    private final List<ECKey> keys;
    private final Optional<NoteSigner> notes;

    /**
     * @param keys P-256, with their private halves, the latest last
     */
    public SealingKeys(List<ECKey> keys) {
        this(keys, Optional.empty());
    }

    private SealingKeys(List<ECKey> keys, Optional<NoteSigner> notes) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException(
                    "no key signs checkpoints; set AUDIT_SIGNING_KEY_FILE or AUDIT_SIGNING_KEYS");
        }
        this.keys = List.copyOf(keys);
        this.notes = notes;
    }

    /** These keys with the key that signs a note beside each checkpoint. */
    public SealingKeys with(NoteSigner signer) {
        return new SealingKeys(keys, Optional.of(signer));
    }

    /** The key of notes; empty if checkpoints have none. */
    Optional<NoteSigner> notes() {
        return notes;
    }

    /** The public halves. */
    public List<ECKey> published() {
        return keys.stream().map(ECKey::toPublicJWK).toList();
    }

    /** A signature of the latest key over other bytes than a checkpoint, as openssl checks it. */
    public byte[] signature(byte[] bytes) {
        try {
            Signature signing = Signature.getInstance("SHA256withECDSA");
            signing.initSign(keys.getLast().toPrivateKey());
            signing.update(bytes);
            return signing.sign();
        } catch (JOSEException | GeneralSecurityException e) {
            throw new IllegalStateException("signing with the P-256 key failed", e);
        }
    }

    /** A JWS of the latest key over a statement that is no checkpoint. */
    String statement(String payload) {
        return jws(payload, keys.getLast());
    }

    /** The RFC 7638 thumbprint of the key that signs. */
    String signer() {
        return thumbprint(keys.getLast());
    }

    /** The RFC 7638 thumbprints of all keys. */
    public Set<String> ids() {
        return keys.stream().map(SealingKeys::thumbprint).collect(Collectors.toSet());
    }

    /** The checkpoint that follows the last one, signed. */
    public SignedCheckpoint seal(
            SealStore.Unsealed unsealed, String broker, List<RetiredMonth> retired) {
        return seal(unsealed, broker, retired, Optional.empty());
    }

    /** The checkpoint that follows the last one, with a declaration in it, signed. */
    public SignedCheckpoint declare(
            SealStore.Unsealed unsealed, String broker, Declaration declared) {
        return seal(unsealed, broker, List.of(), Optional.of(declared));
    }

    private SignedCheckpoint seal(
            SealStore.Unsealed unsealed,
            String broker,
            List<RetiredMonth> retired,
            Optional<Declaration> declared) {
        Optional<SignedCheckpoint> last = unsealed.last();
        // before the events: a row that this doesn't seal was committed after these changes
        List<Position> changes = unsealed.heads().changes();
        List<Position> events = unsealed.heads().events();
        return sign(
                new Checkpoint(
                        last.map(SignedCheckpoint::number).orElse(0L) + 1,
                        last.map(SignedCheckpoint::hash),
                        unsealed.now(),
                        broker,
                        signer(),
                        events,
                        changes,
                        Optional.of(unsealed.heads().root()),
                        notes.map(NoteSigner::published),
                        retired,
                        declared),
                last.flatMap(this::announcer),
                unsealed.tree());
    }

    /** The key that signed the last checkpoint, if it is another than the one that signs now. */
    private Optional<ECKey> announcer(SignedCheckpoint last) {
        String signer = last.signer();
        return keys.subList(0, keys.size() - 1).stream()
                .filter(key -> thumbprint(key).equals(signer))
                .findFirst();
    }

    private SignedCheckpoint sign(
            Checkpoint checkpoint, Optional<ECKey> announcer, LogTree before) {
        String payload = CheckpointJson.write(checkpoint);
        SignedCheckpoint sealed =
                new SignedCheckpoint(
                        checkpoint.number(),
                        checkpoint.sealedAt(),
                        jws(payload, keys.getLast()),
                        announcer.map(key -> jws(payload, key)));
        LogTree tree = before.with(sealed.hash(), checkpoint.declared().isPresent());
        return notes.map(signer -> sealed.with(note(signer, tree))).orElse(sealed);
    }

    private static String note(NoteSigner signer, LogTree tree) {
        return signer.sign(tree.number(), tree.size(), tree.leaves().root());
    }

    private static String jws(String payload, ECKey key) {
        try {
            JWSHeader header =
                    new JWSHeader.Builder(JWSAlgorithm.ES256)
                            .keyID(thumbprint(key))
                            .jwk(key.toPublicJWK())
                            .build();
            JWSObject jws = new JWSObject(header, new Payload(payload));
            jws.sign(new ECDSASigner(key));
            return jws.serialize();
        } catch (JOSEException e) {
            if (e.getCause() instanceof TokenUnavailable why) {
                throw why;
            }
            throw new IllegalStateException("signing with the audit log's key failed", e);
        }
    }

    static String thumbprint(ECKey key) {
        try {
            return key.computeThumbprint().toString();
        } catch (JOSEException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks SHA-256; use a complete Java 25 runtime", e);
        }
    }
}
