package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * What statements of a member do to mints while another session reads what they name. PostgreSQL
 * waits for many locks before it asks whose table it is, and whatever comes later waits for the
 * statement.
 */
@Tag("every-postgres")
class MemberTableLocksTest {
    private static final int TRIES = 5;
    private static final List<String> TARGETS =
            List.of(
                    "audit.event",
                    "audit.config_change",
                    "audit.mint",
                    "log.event",
                    "log.event_2100_01",
                    "log.config_change",
                    "log.checkpoint",
                    "log.cosignature",
                    "log.open_mint",
                    "runtime.used_token",
                    "runtime.ending",
                    "work.used_token",
                    "work.ending",
                    "work.sealing",
                    "work.mutex",
                    "log.subject_grant",
                    "broker.subject_grant");

    /** With %1$s for the table and %2$s for the login. */
    private static final List<String> STATEMENTS =
            Stream.concat(
                            Stream.of(
                                            "ACCESS SHARE",
                                            "ROW SHARE",
                                            "ROW EXCLUSIVE",
                                            "SHARE UPDATE EXCLUSIVE",
                                            "SHARE",
                                            "SHARE ROW EXCLUSIVE",
                                            "EXCLUSIVE",
                                            "ACCESS EXCLUSIVE")
                                    .map("BEGIN; LOCK TABLE %%1$s IN %s MODE"::formatted),
                            Stream.of(
                                    "VACUUM %1$s",
                                    "VACUUM FULL %1$s",
                                    "VACUUM (FULL, ANALYZE) %1$s",
                                    "VACUUM (DISABLE_PAGE_SKIPPING) %1$s",
                                    "ANALYZE %1$s",
                                    "CLUSTER %1$s",
                                    "REINDEX TABLE %1$s",
                                    "REINDEX TABLE CONCURRENTLY %1$s",
                                    "TRUNCATE %1$s",
                                    "TRUNCATE ONLY %1$s",
                                    "REFRESH MATERIALIZED VIEW %1$s",
                                    "CREATE RULE more AS ON INSERT TO %1$s DO INSTEAD NOTHING",
                                    "CREATE TRIGGER more BEFORE INSERT ON %1$s EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                                    "CREATE TRIGGER more INSTEAD OF INSERT ON %1$s FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                                    "CREATE INDEX ON %1$s ((1))",
                                    "CREATE INDEX CONCURRENTLY ON %1$s ((1))",
                                    "CREATE STATISTICS more ON tenant, chain FROM %1$s",
                                    "CREATE POLICY more ON %1$s USING (false)",
                                    "CREATE PUBLICATION more FOR TABLE %1$s",
                                    "CREATE TEMP TABLE more (LIKE %1$s INCLUDING ALL)",
                                    "CREATE TEMP TABLE more () INHERITS (%1$s)",
                                    "CREATE TEMP TABLE more PARTITION OF %1$s DEFAULT",
                                    "CREATE TEMP TABLE more (id uuid REFERENCES %1$s)",
                                    "CREATE TEMP TABLE more (c timestamptz) PARTITION BY RANGE (c); ALTER TABLE more ATTACH PARTITION %1$s DEFAULT",
                                    "CREATE TEMP VIEW more AS SELECT FROM %1$s; LOCK TABLE more",
                                    "CREATE OR REPLACE VIEW %1$s AS SELECT 1 AS one",
                                    "COMMENT ON TABLE %1$s IS 'x'",
                                    "COMMENT ON COLUMN %1$s.tenant IS 'x'",
                                    "COMMENT ON TRIGGER is_append_only ON %1$s IS 'x'",
                                    "COMMENT ON POLICY auditors_read_every_row ON %1$s IS 'x'",
                                    "SECURITY LABEL ON TABLE %1$s IS 'x'",
                                    "GRANT SELECT ON %1$s TO PUBLIC",
                                    "REVOKE ALL ON %1$s FROM PUBLIC",
                                    "ALTER TABLE %1$s ADD COLUMN more int",
                                    "ALTER TABLE %1$s DISABLE TRIGGER ALL",
                                    "ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY",
                                    "ALTER TABLE %1$s OWNER TO %2$s",
                                    "ALTER TABLE %1$s RENAME TO away",
                                    "ALTER TABLE %1$s SET SCHEMA broker",
                                    "ALTER TABLE %1$s SET (fillfactor = 50)",
                                    "ALTER TABLE %1$s DETACH PARTITION log.event_2100_01",
                                    "ALTER TABLE %1$s ALTER COLUMN tenant SET STATISTICS 1",
                                    "ALTER VIEW %1$s SET (security_invoker = false)",
                                    "ALTER VIEW %1$s RENAME TO away",
                                    "ALTER POLICY auditors_read_every_row ON %1$s USING (false)",
                                    "ALTER TRIGGER is_append_only ON %1$s RENAME TO away",
                                    "DROP TABLE %1$s",
                                    "DROP TABLE %1$s CASCADE",
                                    "DROP VIEW %1$s CASCADE",
                                    "DROP POLICY auditors_read_every_row ON %1$s",
                                    "DROP TRIGGER is_append_only ON %1$s",
                                    "DROP RULE more ON %1$s",
                                    "SELECT FROM %1$s FOR UPDATE",
                                    "SELECT FROM %1$s FOR KEY SHARE",
                                    "UPDATE %1$s SET tenant = tenant",
                                    "DELETE FROM %1$s",
                                    "INSERT INTO %1$s DEFAULT VALUES"))
                    .toList();

    /** What a mint asks of the log, also in place of tables that are locked; rolled back. */
    private static final String MINT =
            String.join(
                    ";",
                    "BEGIN",
                    "SELECT FROM log.issuer_change, log.tenant, log.identity_provider, log.access_provider, log.key, log.subject_grant, log.blocked_subject, log.access_rule, log.provider_type LIMIT 1",
                    """
                    INSERT INTO log.event (mint_id, step, kind, occurred_at, reason, detail, broker)
                    VALUES (overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15)::uuid, 2, 'rejected', now(), 'overflow', '1', 'me')
                    """,
                    "SELECT revision FROM audit.last_change('acme')",
                    "SELECT number FROM log.checkpoint ORDER BY number DESC LIMIT 1",
                    "SELECT FROM log.open_mint LIMIT 1",
                    "SELECT FROM work.used_token LIMIT 1",
                    "DELETE FROM work.ending WHERE false",
                    "ROLLBACK");

    private static final String DONE = "00000";
    private static final String WAITED = "55P03";

    @AutoClose private static TestDatabase database;

    /** Of the member's session that is open. */
    private @Nullable Statement last;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("roles", "setup"));
        database.run(
                Who.OWNER, "SET ROLE mintmark_owner; SELECT audit.create_partition('2100-01-01')");
    }

    @ParameterizedTest
    @EnumSource(names = {"ADMIN", "TENANT_ADMIN", "AUDITOR", "CONSOLE"})
    void no_statement_delays_a_mint(Who who) throws Exception {
        List<String> delayed = new ArrayList<>();
        try (Connection reader = database.connect(Who.AUDITOR);
                Connection service = database.connect(Who.APP);
                Statement reads = reader.createStatement();
                Statement mint = service.createStatement()) {
            mint.execute("SET lock_timeout = '100ms'");
            for (boolean isRead : List.of(true, false)) {
                reader.setAutoCommit(false);
                if (isRead) {
                    reads.execute(
                            "SELECT FROM audit.mint, audit.checkpoint, audit.open_mint, audit.verification, runtime.used_token, runtime.ending, runtime.sealing, runtime.mutex, broker.subject_grant");
                } else {
                    reader.rollback();
                }
                for (String target : TARGETS) {
                    for (String statement : STATEMENTS) {
                        String sql = statement.formatted(target, who.login());
                        // a loaded machine may keep a short lock for long; a wait is there each
                        // time
                        boolean mints = false;
                        for (int i = 0; i < TRIES && !mints; i++) {
                            mints = mintsWhile(who, sql, mint);
                        }
                        if (!mints) {
                            delayed.add(sql);
                        }
                    }
                }
            }
            reader.rollback();
            member(who).getConnection().close();
        }
        assertEquals(List.of(), delayed);
    }

    /**
     * Mints while the statement waits, if it does, and while its transaction is open. A statement
     * that failed holds no lock any more.
     */
    private boolean mintsWhile(Who who, String sql, Statement mint) throws Exception {
        Statement statement = member(who);
        CompletableFuture<String> state =
                CompletableFuture.supplyAsync(() -> assertDoesNotThrow(() -> run(statement, sql)));
        boolean mintsMeanwhile = isOver(state) || mints(mint);
        boolean failed = !state.join().equals(DONE);
        boolean mints = mintsMeanwhile && (failed || mints(mint));
        if (failed) {
            statement.execute("ROLLBACK");
        } else {
            statement.getConnection().close();
        }
        return mints;
    }

    /** In the session of before, unless a statement succeeded in it and may have left something. */
    private Statement member(Who who) throws SQLException {
        Statement statement = last;
        if (statement == null || statement.getConnection().isClosed()) {
            statement = database.connect(who).createStatement();
            statement.execute("SET lock_timeout = '150ms'");
            last = statement;
        }
        return statement;
    }

    private static boolean isOver(CompletableFuture<String> state) throws Exception {
        try {
            state.get(30, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Returns the SQLSTATE. */
    private static String run(Statement statement, String sql) throws SQLException {
        try {
            statement.execute(sql);
            return DONE;
        } catch (SQLException e) {
            return e.getSQLState();
        } finally {
            if (!sql.startsWith("BEGIN")) {
                statement.execute("ROLLBACK");
            }
        }
    }

    private static boolean mints(Statement mint) throws SQLException {
        try {
            mint.execute(MINT);
            return true;
        } catch (SQLException e) {
            mint.execute("ROLLBACK");
            if (!WAITED.equals(e.getSQLState())) {
                throw e;
            }
            return false;
        }
    }
}
