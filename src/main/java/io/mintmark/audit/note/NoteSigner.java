package io.mintmark.audit.note;

import io.mintmark.audit.note.SignedNote.Signed;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;

/** Signs heads of a log's trees as notes (c2sp.org/tlog-checkpoint). */
public final class NoteSigner {
    private final String log;
    private final KeyPair pair;

    /**
     * @param log its issuer without the scheme
     * @param pair Ed25519
     */
    public NoteSigner(String log, KeyPair pair) {
        this.log = log;
        this.pair = pair;
    }

    /** The 32 bytes of the public key, in hexadecimal digits. */
    public String published() {
        return key(1).raw();
    }

    /**
     * The key, named after a tree.
     *
     * @param tree its number
     */
    public NoteKey key(long tree) {
        return NoteKey.of("%s/audit/%d".formatted(log, tree), NoteKey.Type.NOTE, pair.getPublic());
    }

    /**
     * The note of a tree's head, with its signature.
     *
     * @param tree its number
     */
    public String sign(long tree, long size, byte[] root) {
        NoteKey key = key(tree);
        String text = new TreeHead(key.name(), size, Base64Text.of(root)).text();
        try {
            Signature signing = Signature.getInstance("Ed25519");
            signing.initSign(pair.getPrivate());
            signing.update(text.getBytes(StandardCharsets.UTF_8));
            byte[] signature = signing.sign();
            byte[] bytes =
                    ByteBuffer.allocate(Integer.BYTES + signature.length)
                            .putInt(key.id())
                            .put(signature)
                            .array();
            return text + "\n" + new Signed(key.name(), Base64Text.of(bytes)).line();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("signing with the Ed25519 key failed", e);
        }
    }
}
