package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.MintEvents;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.KeyName;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Rows that fit in their chains, but not with others of their mint: both verifiers say so. */
class MintRowsTest {
    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = new Database(database.login(Who.APP));
    private final PostgresEventStore store = new PostgresEventStore(connections, "here/1");
    private final List<Event> mint = new GrantedMints(database).of(AuditRows.mint("ci:main", "{}"));
    private final String id = mint.getFirst().mintId().toString();

    @AfterEach
    void close() {
        connections.close();
        database.close();
    }

    private void assertFound(List<String> wrong) throws Exception {
        Seals.seal(database);
        Path log = directory.resolve("log.jsonl");
        assertEquals(wrong, Seals.found(database, List.of(Seals.KEY)).wrong);
        assertEquals(wrong, Seals.foundInExport(database, log, List.of(Seals.KEY)).wrong);
        Script script = new Script(directory, database);
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(wrong.isEmpty() ? 0 : 1, script.status(arguments), script::output);
            assertEquals(
                    wrong.stream().map(MintRowsTest::asTheScriptSays).toList(),
                    ForeignVerifierTest.lines(script.output().lines().toList()).lines().toList());
        }
    }

    private static String asTheScriptSays(String sentence) {
        return "WRONG: "
                + sentence.substring(0, 1).toLowerCase(Locale.ROOT)
                + sentence.substring(1);
    }

    private MintEvents events(KeyName key) {
        Event requested = mint.getFirst();
        return new MintEvents(
                requested.mintId(),
                requested.caller().orElseThrow(),
                requested.subject().orElseThrow(),
                key,
                requested.grant());
    }

    @Test
    void an_outcome_without_a_request() throws Exception {
        store.append(mint.subList(1, 2));
        assertFound(List.of("Mint %s has an outcome but was never requested".formatted(id)));
    }

    @Test
    void a_broker_that_was_not_sure_of_the_request() throws Exception {
        store.append(
                List.of(
                        events(mint.getFirst().key().orElseThrow())
                                .failed(Instant.now(), "audit_unavailable", "not called")));
        assertFound(List.of());
    }

    @Test
    void an_outcome_of_another_key() throws Exception {
        store.append(mint.subList(0, 1));
        store.append(
                List.of(
                        events(new KeyName("another"))
                                .issued(Instant.now(), mint.getLast().credential().orElseThrow())));
        assertFound(List.of("The rows of mint %s contradict each other".formatted(id)));
    }

    @Test
    void a_checkpoint_with_whitespace_around_it() throws Exception {
        store.append(mint);
        Seals.seal(database);
        database.runAsSuperuser(
                """
                ALTER TABLE log.checkpoint DISABLE TRIGGER is_append_only;
                UPDATE audit.checkpoint SET jws = jws || chr(10);
                """);
        Script script = new Script(directory, database);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertTrue(!found.wrong.isEmpty() || !found.foreign.isEmpty(), "the command accepts it");
        assertEquals(1, script.status(List.of()), script::output);
    }
}
