package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.net.http.HttpRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** A database that answers, and takes no rows of the audit log. */
class RefusingLogTest {
    @AutoClose private final World world = new World();

    private int readiness() {
        URI ready =
                URI.create(
                        "http://localhost:%d/observe/health/ready"
                                .formatted(world.broker().adminPort()));
        return world.broker().send(HttpRequest.newBuilder(ready)).status();
    }

    private void refuse(String sqlState, String condition) {
        world.database()
                .runAsSuperuser(
                        """
                        CREATE FUNCTION audit.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN
                            RAISE EXCEPTION 'no' USING ERRCODE = '%s';
                        END $$;
                        CREATE TRIGGER refuse BEFORE INSERT ON log.event
                        FOR EACH ROW WHEN (%s) EXECUTE FUNCTION audit.refuse();
                        """
                                .formatted(sqlState, condition));
    }

    private static String process(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            assertTrue(row.next());
            return row.getString(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"53100", "42501", "P0001", "23514", "57014", "XX001"})
    void a_log_that_refuses_rows_whatever_the_reason_makes_the_broker_unready_until_it_takes_some(
            String sqlState) {
        Eventually.holds(() -> readiness() < 300);
        refuse(sqlState, "true");
        assertEquals(
                "503 SERVICE_UNAVAILABLE ", world.broker().mint(world.token(), "deploy").verdict());
        Eventually.holds(() -> world.broker().get("/health").status() == 503);
        assertEquals("unhealthy", world.broker().get("/health").at("/checks/database"));
        Eventually.holds(() -> readiness() == 503);
        assertEquals(List.of(), world.sts().calls());
        world.database().runAsSuperuser("DROP TRIGGER refuse ON log.event");
        Eventually.holds(() -> readiness() < 300);
        assertEquals(200, world.broker().mint(world.token(), "deploy").status());
    }

    /** Nothing keeps a login from filling it, so the operator must see which one to end. */
    @Test
    void a_full_lock_table_is_logged_with_the_session_that_has_most_locks() throws Exception {
        refuse("53200", "true");
        try (LogBook book = LogBook.open();
                Connection member = world.database().connect(Who.AUDITOR);
                Statement statement = member.createStatement()) {
            member.setAutoCommit(false);
            statement.execute("CREATE TEMP TABLE filler (c int)");
            for (int i = 0; i < 500; i++) {
                statement.execute("SAVEPOINT s; INSERT INTO filler VALUES (1)");
            }
            String process = process(statement);

            assertEquals(
                    "503 SERVICE_UNAVAILABLE ",
                    world.broker().mint(world.token(), "deploy").verdict());

            List<String> lines =
                    book.linesWith("of the locks belong to process %s.".formatted(process));
            assertFalse(lines.isEmpty(), book::text);
            String line = lines.getFirst();
            assertTrue(line.contains("because the server's lock table is full"), line);
            assertTrue(line.contains("pg_terminate_backend(%s)".formatted(process)), line);
        }
    }

    @Test
    void a_log_that_refuses_what_was_issued_hands_nothing_out_and_records_that() {
        refuse("53100", "NEW.kind = 'issued'");
        assertEquals(
                "503 SERVICE_UNAVAILABLE ", world.broker().mint(world.token(), "deploy").verdict());
        Eventually.holds(() -> world.broker().get("/health").status() == 503);
        Eventually.holds(() ->
                world.audited("key = 'deploy'")
                        .equals(List.of("requested deploy", "withheld deploy audit_unavailable")));
    }

    @Test
    void a_partition_that_is_missing_is_made_when_it_is_needed() {
        world.database()
                .runAsSuperuser(
                        """
                        DO $$
                        DECLARE
                            part regclass;
                        BEGIN
                            FOR part IN SELECT inhrelid FROM pg_inherits
                                         WHERE inhparent = 'log.event'::regclass LOOP
                                EXECUTE format('ALTER TABLE log.event DETACH PARTITION %s', part);
                                EXECUTE format('DROP TABLE %s', part);
                            END LOOP;
                        END $$
                        """);
        assertEquals(200, world.broker().mint(world.token(), "deploy").status());
        assertEquals(List.of("requested deploy", "issued deploy"), world.audited("true"));
    }
}
