package io.mintmark.audit.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.AuditSettings.OnLoss;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.start.StartFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.List;
import java.util.Optional;

/** {@code AUDIT_WITNESS_POLICY} at a start. */
class OwnWitnessesTest {
    private static final SealingKeys KEYS = new SealingKeys(List.of(Seals.KEY));

    @TempDir private Path directory;

    private AuditSettings settings(Path policy) {
        return new AuditSettings(
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                false,
                Optional.of(policy),
                OnLoss.STOP);
    }

    private static String key(String name, NoteKey.Type type) throws Exception {
        return NoteKey.of(
                        name,
                        type,
                        KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPublic())
                .text();
    }

    private Path policy(String lines) throws Exception {
        String text =
                lines.replace("{OWN}", Seals.NOTES.key(1).text())
                        .replace("{SECOND}", Seals.NOTES.key(2).text())
                        .replace("{OTHER}", key("log.example/audit/1", NoteKey.Type.NOTE))
                        .replace("{W1}", key("w.example/1", NoteKey.Type.COSIGNATURE))
                        .replace("{W2}", key("w.example/2", NoteKey.Type.COSIGNATURE))
                        .replace("; ", "\n");
        return Files.writeString(directory.resolve("policy"), text + "\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    log {OWN}; witness a {W1} https://w.example; quorum a
                    log {SECOND}; witness a {W1} https://w.example/x/; witness b {W2}; group g any a b; quorum g
                    log {OWN}; witness a {W1} https://w.example; quorum none
                    log {OTHER}; log {OWN}; witness a {W1} http://localhost:1; witness b {W2} https://x; quorum a
                    """)
    void a_policy_that_can_be_met_is_taken(String lines) throws Exception {
        assertTrue(OwnWitnesses.of(KEYS.with(Seals.NOTES), settings(policy(lines))).isPresent());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    log {OTHER}; witness a {W1} https://w.example; quorum a             | does not list this log; add the line: log log.example/audit/1+
                    witness a {W1} https://w.example; quorum a                        | there is no line 'log KEY'
                    log {OWN}; witness a {W1} https://w.example; quorum b               | line 3: 'b' isn't defined on an earlier line
                    log {OWN}; witness a {W1} https://w.example; group g 2 a; quorum g  | line 3: a group requires more members than it has
                    log {OWN}; witness a {W1}; quorum a                                 | has no witness with a URL
                    log {OWN}; quorum none                                            | has no witness with a URL
                    log {OWN}; witness a {W1} https://w.example; witness b {W2}; group g all a b; quorum g | because witnesses without a URL aren't asked
                    log {OWN}; witness a {W1} ftp://w.example; quorum a                 | line 2: the URL of a witness must begin with https://
                    log {OWN}; witness a {W1} https://w.example                         | exactly one line 'quorum NAME'
                    """)
    void another_one_is_a_sentence(String lines, String why) throws Exception {
        Path policy = policy(lines);
        StartFailed failed =
                assertThrows(
                        StartFailed.class,
                        () -> OwnWitnesses.of(KEYS.with(Seals.NOTES), settings(policy)));
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.startsWith("AUDIT_WITNESS_POLICY: ") && message.contains(why), message);
        assertEquals(1, message.lines().count());
    }

    @Test
    void without_notes_there_is_nothing_to_cosign() throws Exception {
        Path policy = policy("log {OWN}; quorum none");
        StartFailed failed =
                assertThrows(StartFailed.class, () -> OwnWitnesses.of(KEYS, settings(policy)));
        assertTrue(String.valueOf(failed.getMessage()).contains("set AUDIT_NOTE_KEY_FILE"));
    }
}
