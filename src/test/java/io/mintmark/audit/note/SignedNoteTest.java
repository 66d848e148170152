package io.mintmark.audit.note;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SignedNoteTest {
    /** The example of the first implementation of signed notes. */
    private static final String KEY =
            "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    private static final String NOTE =
            """
            If you think cryptography is the answer to your problem,
            then you don't know what your problem is.

            \u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
            """;

    @Test
    void the_signature_of_the_example_holds() {
        NoteKey key = NoteKey.parse(KEY, NoteKey.Type.NOTE);
        assertEquals(KEY, key.text());
        assertTrue(SignedNote.parse(NOTE).isSignedBy(key));
        assertFalse(SignedNote.parse(NOTE.replace("your", "my")).isSignedBy(key));
        assertFalse(
                SignedNote.parse(NOTE)
                        .isSignedBy(new NoteKey("Peter", NoteKey.Type.NOTE, key.raw())));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "text\n",
                "text\n\n",
                "text\n\nno signature\n",
                "text\n\n\u2014 name\n",
                "text\n\n\u2014 name AAAA",
                "text\r\n\n\u2014 name AAAA\n",
                "text\n\n\u2014 name AAB=\n",
                "text\n\n- name AAAA\n"
            })
    void what_is_no_note_is_refused(String note) {
        assertThrows(IllegalArgumentException.class, () -> SignedNote.parse(note));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PeterNeumann",
                "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                "PeterNeumann+c74f20a3+BBpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                "PeterNeumann+c74f20a3+ARpc",
                "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
            })
    void what_is_no_key_is_refused(String key) {
        assertThrows(IllegalArgumentException.class, () -> NoteKey.parse(key, NoteKey.Type.NOTE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "log\n1\n",
                "log\n01\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
                "log\n-1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
                "log\n1\n47DEQpj8HBSa\n",
                "\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
                "log\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\nmore\n"
            })
    void what_is_no_head_of_a_tree_is_refused(String text) {
        assertThrows(IllegalArgumentException.class, () -> TreeHead.parse(text));
    }
}
