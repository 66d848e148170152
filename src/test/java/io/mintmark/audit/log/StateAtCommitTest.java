package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.Receipt;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Rows are committed and the state is asked for in one exchange with the server. */
@Tag("every-postgres")
class StateAtCommitTest {
    private static final TenantName ACME = new TenantName("acme");

    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresEventStore store = new PostgresEventStore(connections, "here/1");

    @BeforeEach
    void insertTenant() {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
    }

    private Map<TenantName, TenantState> append(List<Event> events) {
        return store.append(events, Set.of(ACME));
    }

    private String revision() {
        return database.value(
                "SELECT max(revision) FROM audit.config_change WHERE tenant = 'acme'");
    }

    private static String revision(Map<TenantName, TenantState> states) {
        return Long.toString(new Receipt(states, 0).state(ACME).own().revision());
    }

    /** The commit waits for the change, so a query before the commit would not have seen it. */
    @Test
    void a_change_that_is_committed_while_the_rows_are_is_in_the_state() throws Exception {
        database.runAsSuperuser(
                """
                CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON log.event
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait();
                """);
        String before = revision();
        try (Connection other = database.connect(Who.ADMIN);
                Statement statement = other.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(4711)");
            var states = CompletableFuture.supplyAsync(() -> append(AuditRows.mint("one", "{}")));
            Eventually.holds(() ->
                    List.of("1")
                            .equals(
                                    database.column(
                                            """
                                            SELECT count(*) FROM pg_locks
                                             WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted
                                            """)));
            statement.execute("UPDATE broker.tenant SET display_name = 'Acme'");
            statement.execute("SELECT pg_advisory_unlock(4711)");
            assertEquals(revision(), revision(states.join()));
            assertTrue(Long.parseLong(before) < Long.parseLong(revision()));
        }
    }

    @Test
    void rows_that_are_refused_are_not_written_and_leave_no_gap() {
        List<Event> mint = AuditRows.mint("one", "{}");
        var _ = append(mint);
        assertThrows(EventRefused.class, () -> append(mint));
        assertEquals(revision(), revision(append(AuditRows.mint("two", "{}"))));
        database.assertRows("SELECT max(seq) FROM audit.event", "4");
        assertProven();
    }

    @Test
    void rows_whose_state_cant_be_asked_for_are_perhaps_written_and_end_their_chain() {
        var _ = append(AuditRows.mint("one", "{}"));
        database.runAsSuperuser("ALTER FUNCTION audit.last_change(text) RENAME TO gone");
        assertPerhapsCommitted(AuditRows.mint("two", "{}"));
        database.runAsSuperuser("ALTER FUNCTION audit.gone(text) RENAME TO last_change");
        var _ = append(AuditRows.mint("three", "{}"));
        database.assertRows(
                """
                SELECT string_agg(subject, ' ' ORDER BY seq)
                  FROM audit.event WHERE step = 1 GROUP BY chain ORDER BY min(mint_id::text)
                """,
                "one two",
                "three");
        assertProven();
    }

    @Test
    void rows_whose_commit_fails_are_perhaps_written_and_end_their_chain() {
        var _ = append(AuditRows.mint("one", "{}"));
        database.runAsSuperuser(
                """
                CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                $$ BEGIN RAISE 'for the test'; END $$;
                CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON log.event
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.fail();
                """);
        assertPerhapsCommitted(AuditRows.mint("two", "{}"));
        database.runAsSuperuser("DROP TRIGGER fails ON log.event");
        var _ = append(AuditRows.mint("three", "{}"));
        database.assertRows(
                "SELECT subject || ' ' || min(seq) FROM audit.event GROUP BY subject ORDER BY 1",
                "one 1",
                "three 1");
        assertProven();
    }

    @Test
    void what_the_databases_address_asks_of_the_driver_changes_nothing() {
        DatabaseLogin login =
                new DatabaseLogin(
                        database.url()
                                + (database.url().contains("?") ? "&" : "?")
                                + "preferQueryMode=simple&autosave=always&defaultRowFetchSize=1",
                        Who.APP.login(),
                        () -> Optional.of(database.password()));
        try (Database other = new Database(login)) {
            PostgresEventStore own = new PostgresEventStore(other, "here/2");
            List<Event> mint = AuditRows.mint("one", "{}");
            var two = Set.of(ACME, new TenantName("second"));
            assertEquals(two, own.append(mint, two).keySet());
            assertThrows(EventRefused.class, () -> own.append(mint, two));
        }
    }

    private void assertPerhapsCommitted(List<Event> rows) {
        assertTrue(assertThrows(StoreUnreachable.class, () -> append(rows)).perhapsCommitted());
    }

    private void assertProven() {
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }
}
