package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A replica seals its own chain as it wrote it. */
class OwnChainTest {
    private static final String HEAD =
            "SELECT seq || ' ' || encode(hash, 'hex') FROM audit.event ORDER BY seq DESC LIMIT 1";

    @AutoClose private TestDatabase database;
    private PostgresEventStore writer;
    private PostgresSeals seals;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
        Database connections = database.closing(new Database(database.login(Who.APP)));
        writer = new PostgresEventStore(connections, "test");
        seals =
                new PostgresSeals(
                        connections,
                        "test",
                        writer,
                        new SeenHistory(connections, Optional.empty()));
        write();
    }

    private void write() {
        var _ = writer.append(AuditRows.mint("ci:main", "{}"), Set.of(new TenantName("acme")));
    }

    /** The heads that the next checkpoint has of the events. */
    private List<String> sealed() {
        List<String> heads = new ArrayList<>();
        SealingKeys keys = new SealingKeys(List.of(Seals.KEY));
        var _ =
                seals.seal(
                        true,
                        unsealed -> {
                            for (Position head : unsealed.heads().events()) {
                                heads.add(head.at() + " " + head.hash());
                            }
                            return Optional.of(keys.seal(unsealed, "test", List.of()));
                        });
        return heads;
    }

    @Test
    void an_untouched_chain_is_sealed_to_its_end() {
        assertEquals(database.column(HEAD), sealed());
        assertEquals(List.of(), sealed());
        write();
        assertEquals(database.column(HEAD), sealed());
    }

    @Test
    void a_row_that_was_changed_meanwhile_is_sealed_as_it_was_written() {
        List<String> written = database.column(HEAD);
        database.alterLog("UPDATE audit.event SET hash = sha256(hash)");
        assertEquals(written, sealed());
        assertTrue(
                Seals.wrong(database).stream()
                        .anyMatch(it ->
                                it.startsWith("Checkpoint 1 sealed a different hash for row 2")),
                () -> Seals.wrong(database).toString());
    }

    @Test
    void a_row_that_was_removed_meanwhile_is_sealed_all_the_same() {
        List<String> written = database.column(HEAD);
        database.removeEvents("step = 2");
        assertEquals(written, sealed());
    }

    @Test
    void rows_whose_commit_is_in_doubt_are_sealed_as_they_are_found() {
        database.runAsSuperuser(
                """
                CREATE FUNCTION audit.in_doubt() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '57P01'; END $$;
                CREATE TRIGGER in_doubt BEFORE INSERT ON log.event
                    FOR EACH ROW EXECUTE FUNCTION audit.in_doubt();
                """);
        assertThrows(StoreUnreachable.class, this::write);
        database.alterLog("UPDATE audit.event SET seq = seq + 1 WHERE step = 2");
        assertEquals(database.column(HEAD), sealed());
    }

    @Test
    void rows_of_a_forger_in_the_chain_are_not_sealed() {
        List<String> written = database.column(HEAD);
        database.alterLog("UPDATE audit.event SET seq = seq + 1 WHERE step = 2");
        assertEquals(written, sealed());
    }
}
