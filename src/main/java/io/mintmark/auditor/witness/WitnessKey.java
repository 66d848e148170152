package io.mintmark.auditor.witness;

import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote.Signed;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Instant;

/** The key of a witness. */
final class WitnessKey {
    private static final int HEADER_BYTES = Integer.BYTES + Long.BYTES;

    private final PrivateKey key;
    private final NoteKey published;

    WitnessKey(PrivateKey key, NoteKey published) {
        this.key = key;
        this.published = published;
    }

    NoteKey published() {
        return published;
    }

    /** Signs that the text was the newest head of its log at a time (c2sp.org/tlog-cosignature). */
    Signed cosign(String text, Instant at) {
        long seconds = at.getEpochSecond();
        String message = CosignedNote.message(at, text);
        try {
            Signature signing = Signature.getInstance("Ed25519");
            signing.initSign(key);
            signing.update(message.getBytes(StandardCharsets.UTF_8));
            byte[] signature = signing.sign();
            byte[] bytes =
                    ByteBuffer.allocate(HEADER_BYTES + signature.length)
                            .putInt(published.id())
                            .putLong(seconds)
                            .put(signature)
                            .array();
            return new Signed(published.name(), Base64Text.of(bytes));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("signing with the Ed25519 key failed", e);
        }
    }
}
