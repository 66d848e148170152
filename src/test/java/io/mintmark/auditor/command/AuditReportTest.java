package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.auditor.verify.Verification;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Whoever can write a row can choose the names that findings tell. */
class AuditReportTest {
    private static final String FORGED = "Chain 1.x\u001b[2J\nNothing was changed.\u202e";

    @Test
    void a_name_in_a_finding_writes_no_line_of_its_own() {
        assertEquals(1, linesOf(AuditReport::wrong));
        assertEquals(1, linesOf(AuditReport::foreign));
        assertEquals(1, linesOf(AuditReport::told));
    }

    private static long linesOf(BiConsumer<AuditReport, String> finding) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        finding.accept(
                new AuditReport(new PrintStream(bytes, true, StandardCharsets.UTF_8)), FORGED);
        String printed = bytes.toString(StandardCharsets.UTF_8);
        assertEquals(-1, printed.indexOf('\u001b'), printed);
        assertEquals(-1, printed.indexOf('\u202e'), printed);
        return printed.lines().count();
    }

    private static String end(Optional<SignedCheckpoint> kept, Consumer<AuditReport> findings) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        AuditReport report = new AuditReport(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        findings.accept(report);
        report.end(
                new Verification.Summary(
                        7,
                        7,
                        true,
                        10,
                        3,
                        0,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(Instant.now().minus(Duration.ofDays(3))),
                        kept));
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void without_kept_checkpoints_nothing_is_said_about_what_is_missing() {
        String printed = end(Optional.empty(), _ -> {});
        assertFalse(printed.contains("nothing is missing"), printed);
        assertTrue(printed.contains("The newest checkpoint is number 7 of "), printed);
        assertTrue(printed.contains(", 3 days ago."), printed);
        assertTrue(
                printed.endsWith(
                        "Nothing was changed up to checkpoint 7. This run can't detect whether later rows were removed.\n"),
                printed);
    }

    @Test
    void kept_checkpoints_prove_that_nothing_is_missing_up_to_the_last_of_them() {
        Instant kept = Instant.now().minus(Duration.ofMinutes(90));
        String printed =
                end(Optional.of(new SignedCheckpoint(5, kept, "a.b.c", Optional.empty())), _ -> {});
        assertTrue(
                printed.contains("kept elsewhere is number 5 of " + kept + ", 1 hour ago."),
                printed);
        assertTrue(
                printed.endsWith(
                        "Nothing was changed, and nothing is missing up to checkpoint 5.\n"),
                printed);
    }

    @Test
    void an_ungranted_mint_is_named_and_an_altered_schema_too() {
        String printed =
                end(
                        Optional.empty(),
                        report -> {
                            report.ungranted("0199f2c4-0000-7000-8000-000000000000", "no grant");
                            report.altered("View audit.mint differs from this release");
                        });
        assertTrue(
                printed.contains(
                        "WRONG: ungranted_mint 0199f2c4-0000-7000-8000-000000000000: no grant\n"),
                printed);
        assertTrue(printed.contains("WRONG: View audit.mint differs from this release\n"), printed);
        assertTrue(printed.contains("1 mint was NOT granted"), printed);
    }
}
