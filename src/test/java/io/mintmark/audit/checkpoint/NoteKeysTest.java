package io.mintmark.audit.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.note.SignedNote;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.AuditSettings.OnLoss;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.start.StartFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

class NoteKeysTest {
    private static final Optional<URI> ISSUER = Optional.of(URI.create("https://log.example/a"));

    /** RFC 8032 section 7.1, test 1. */
    private static final String KNOWN =
            """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----
            """;

    private static final String KNOWN_PUBLIC =
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    @TempDir private Path directory;

    private SignedCheckpoint sealed(Optional<Path> noteKey, Optional<URI> issuer) {
        AuditSettings settings =
                new AuditSettings(
                        Optional.of(directory.resolve("audit.pem")),
                        List.of(),
                        noteKey,
                        Optional.empty(),
                        false,
                        Optional.empty(),
                        OnLoss.STOP);
        SealStore.Heads heads =
                new SealStore.Heads() {
                    @Override
                    public List<Checkpoint.Position> events() {
                        return List.of();
                    }

                    @Override
                    public List<Checkpoint.Position> changes() {
                        return List.of();
                    }

                    @Override
                    public String root() {
                        return "00".repeat(32);
                    }
                };
        return NoteKeys.add(new SealingKeys(List.of(Seals.KEY)), settings, HeldKeys.none(), issuer)
                .seal(
                        new SealStore.Unsealed(
                                Optional.empty(),
                                _ -> List.of(),
                                heads,
                                new LogTree(),
                                Instant.EPOCH),
                        "test",
                        List.of());
    }

    @Test
    void the_first_start_makes_a_key_that_others_use_too() throws Exception {
        Optional<String> first =
                sealed(Optional.empty(), ISSUER).unverified().orElseThrow().noteKey();
        assertTrue(first.isPresent());
        assertEquals(first, sealed(Optional.empty(), ISSUER).unverified().orElseThrow().noteKey());
        Path made = directory.resolve("audit-note.pem");
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
        assertEquals(first, sealed(Optional.of(made), ISSUER).unverified().orElseThrow().noteKey());
    }

    @Test
    void the_key_of_a_file_signs_in_the_name_of_the_issuer() throws Exception {
        Path file = Files.writeString(directory.resolve("note.pem"), KNOWN);
        SignedCheckpoint sealed = sealed(Optional.of(file), ISSUER);
        assertEquals(Optional.of(KNOWN_PUBLIC), sealed.unverified().orElseThrow().noteKey());
        SignedNote note = SignedNote.parse(sealed.note().orElseThrow());
        assertTrue(note.text().startsWith("log.example/a/audit/1\n1\n"), note.text());
        assertTrue(note.isSignedBy(sealed.noteKey().orElseThrow()));
        assertFalse(Files.exists(directory.resolve("audit-note.pem")));
    }

    @Test
    void a_file_that_holds_another_key_or_none_is_refused() throws Exception {
        for (String content : List.of("", "x", KNOWN.replace("MC4C", "MC4D"), KNOWN + KNOWN)) {
            Path file = Files.writeString(directory.resolve("note.pem"), content);
            StartFailed refused =
                    assertThrows(StartFailed.class, () -> sealed(Optional.of(file), ISSUER));
            assertTrue(
                    String.valueOf(refused.getMessage()).startsWith("AUDIT_NOTE_KEY_FILE: "),
                    refused::toString);
        }
    }

    @Test
    void a_log_without_a_name_has_no_notes() throws Exception {
        assertEquals(Optional.empty(), sealed(Optional.empty(), Optional.empty()).note());
        assertFalse(Files.exists(directory.resolve("audit-note.pem")));
        Path file = Files.writeString(directory.resolve("note.pem"), KNOWN);
        StartFailed refused =
                assertThrows(StartFailed.class, () -> sealed(Optional.of(file), Optional.empty()));
        assertTrue(String.valueOf(refused.getMessage()).contains("BROKER_ISSUER"));
    }

    @Test
    void a_key_that_can_not_be_made_leaves_checkpoints_without_notes() throws Exception {
        Files.createDirectory(directory.resolve("audit-note.pem"));
        assertEquals(Optional.empty(), sealed(Optional.empty(), ISSUER).note());
    }
}
