package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.NoteKeyFile;
import io.mintmark.audit.note.NoteSigner;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.Map;

/** A key of notes and a policy, as an operator gives them to a broker. */
record WitnessSettings(Path directory, String log) {
    /** Signs the notes of the broker. */
    NoteSigner signer() {
        Path key = directory.resolve("note.pem");
        return Unchecked.call(() -> {
            NoteKeyFile.make(key);
            return new NoteSigner(log, NoteKeyFile.read(key));
        });
    }

    /** The line of a policy with another witness of this machine. */
    static String line(String name, int port) {
        NoteKey key =
                Unchecked.call(() ->
                        NoteKey.of(
                                name + ".example",
                                NoteKey.Type.COSIGNATURE,
                                KeyPairGenerator.getInstance("Ed25519")
                                        .generateKeyPair()
                                        .getPublic()));
        return "witness %s %s http://127.0.0.1:%d\n".formatted(name, key.text(), port);
    }

    /**
     * The settings.
     *
     * @param lines of the policy, after that of the log
     */
    Map<String, String> settings(String lines) {
        String policy = "log %s\n%s\n".formatted(signer().key(1).text(), lines);
        Path file = directory.resolve("policy");
        Unchecked.run(() -> Files.writeString(file, policy));
        return Map.of(
                "AUDIT_NOTE_KEY_FILE", directory.resolve("note.pem").toString(),
                "AUDIT_WITNESS_POLICY", file.toString());
    }
}
