package io.mintmark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;

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
}
