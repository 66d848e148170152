package io.mintmark.console.pages.proof;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.auditor.witness.TestWitness;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.SealedRows;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What the console has of receipts and cosignatures. */
class ReceiptDownloadTest {
    @TempDir private static Path directory;
    private static TestDatabase database;
    private static ConsoleWorld world;
    private static String mint;

    @BeforeAll
    static void write() throws Exception {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
                VALUES (NULL, true, 'role', '"auditor"'), ('acme', false, 'groups', '"acme-leads"')
                """);
        SealedRows.write(database, 20);
        Seals.noted(database);
        try (TestWitness witness = new TestWitness(directory, "one")) {
            assertEquals(200, witness.ask(database));
        }
        mint =
                database.value(
                        "SELECT mint_id FROM audit.event WHERE step = 1 AND tenant = 'acme' LIMIT 1");
        world =
                database.closing(
                        new ConsoleWorld(
                                database.login(Who.CONSOLE), Optional.of(SealedRows::trusted)));
    }

    @AfterAll
    static void close() {
        database.close();
    }

    private static String address(String of) {
        return "/proof/receipt?mint=" + of;
    }

    @Test
    void the_file_is_what_the_command_writes() throws Exception {
        Path file = directory.resolve("receipt.json");
        assertEquals(
                0,
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run("prove", mint, "--output", file.toString())
                        .status());
        HttpResponse<String> answer = world.get("auditor", address(mint));
        assertEquals(200, answer.statusCode());
        assertEquals(Files.readString(file), answer.body());
        assertEquals(
                "attachment; filename=\"receipt-%s.json\"".formatted(mint),
                answer.headers().firstValue("Content-Disposition").orElseThrow());
        assertShows(world.page("auditor", "/mints/" + mint), "Download receipt", address(mint));
    }

    @Test
    void who_leads_a_tenant_gets_no_receipt_and_is_offered_none() {
        assertEquals(200, world.get("lead", "/mints/" + mint).statusCode());
        assertLacks(world.page("lead", "/mints/" + mint), "Download receipt");
        HttpResponse<String> answer = world.get("lead", address(mint));
        assertEquals(403, answer.statusCode());
        assertLacks(answer.body(), "\"receipt\":1");
    }

    @Test
    void a_mint_that_is_unknown_or_not_sealed_yet_has_none() {
        assertEquals(404, world.get("auditor", address("42")).statusCode());
        assertEquals(
                404,
                world.get("auditor", address("0199f2c4-1c4e-7000-8a5b-0123456789ab")).statusCode());
        AuditRows.append(database, "here/9", AuditRows.mint("late:subject", "{}"));
        String late =
                database.value(
                        "SELECT mint_id FROM audit.event WHERE step = 1 AND subject = 'late:subject'");
        HttpResponse<String> answer = world.get("auditor", address(late));
        assertEquals(404, answer.statusCode());
        assertShows(answer.body(), "the row isn't sealed yet");
    }

    @Test
    void the_proof_page_shows_the_last_cosignature_of_each_witness() {
        assertShows(
                world.page("auditor", "/proof"),
                "Cosigned by witnesses",
                "<span class=\"id wrap\">one.example</span>");
    }
}
