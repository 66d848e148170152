package io.mintmark.auditor.witness;

import io.mintmark.Unchecked;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.tree.ConsistencyProofTest;
import io.mintmark.audit.tree.TreeHash;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.ArrayList;
import java.util.List;

/** A transparency log that a test grows, and whose history it may change. */
final class TestLog {
    private final String origin;
    private final KeyPair pair;
    private final List<byte[]> leaves = new ArrayList<>();

    TestLog(String origin) {
        this(
                origin,
                Unchecked.call(() -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
    }

    private TestLog(String origin, KeyPair pair) {
        this.origin = origin;
        this.pair = pair;
    }

    /** Another history, which the same key signs. */
    TestLog fork(int common) {
        TestLog fork = new TestLog(origin, pair);
        fork.leaves.addAll(leaves.subList(0, common));
        return fork;
    }

    TestLog grow(String... contents) {
        for (String content : contents) {
            leaves.add(content.getBytes(StandardCharsets.UTF_8));
        }
        return this;
    }

    NoteKey key() {
        return NoteKey.of(origin, NoteKey.Type.NOTE, pair.getPublic());
    }

    String text() {
        TreeHash tree = new TreeHash();
        leaves.forEach(tree::add);
        return "%s\n%d\n%s\n".formatted(origin, leaves.size(), Base64Text.of(tree.root()));
    }

    String checkpoint() {
        return Unchecked.call(() -> {
            Signature signing = Signature.getInstance("Ed25519");
            signing.initSign(pair.getPrivate());
            signing.update(text().getBytes(StandardCharsets.UTF_8));
            byte[] signature = signing.sign();
            byte[] bytes =
                    ByteBuffer.allocate(Integer.BYTES + signature.length)
                            .putInt(key().id())
                            .put(signature)
                            .array();
            return text() + "\n" + new SignedNote.Signed(origin, Base64Text.of(bytes)).line();
        });
    }

    /** The body of {@code add-checkpoint}. */
    String submission(int old) {
        StringBuilder lines = new StringBuilder("old " + old + "\n");
        ConsistencyProofTest.proof(leaves, old)
                .forEach(hash -> lines.append(Base64Text.of(hash)).append('\n'));
        return lines + "\n" + checkpoint();
    }
}
