package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;

@Tag("every-postgres")
class HashChainTest {
    private static final List<String> NASTY =
            List.of(
                    "{}",
                    "{\"b\":1,\"aa\":2,\"a\":3,\"ä\":4,\"\":5,\"aé\":6}",
                    "{\"n\":[0,-0,1.0,1.50e1,1e5,1.0E+10,1e-7,123456789012345678901234567890,-1.5]}",
                    "{\"n\":[0.1,1e300,-2.5e-300,5e-324,1.7976931348623157e308,100,1E2,0e5,0.0]}",
                    "{\"s\":\"\\u0000\\u0001\\b\\f\\n\\r\\t\\u001f\\u007f\\\"\\\\/é\\ud83d\\ude00\"}",
                    "{\"s\":\"\\ud800 half\",\"u\\u0000\":null,\"t\":true,\"f\":false}",
                    "{\"o\":{\"z\":{\"y\":[[],{},\"\"]}},\"n\":1e400}");

    private static final Set<TenantName> ACME = Set.of(new TenantName("acme"));

    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));

    private PostgresEventStore store() {
        return new PostgresEventStore(connections, "here/1");
    }

    @Test
    void what_was_hashed_is_what_is_stored_whatever_is_thrown_at_it() {
        PostgresEventStore store = store();
        for (String claims : NASTY) {
            store.append(AuditRows.mint("sub \\ \u0000 é\ud83d\ude00\t\n,1:", claims));
        }
        store.append(AuditRows.mint("v4", "{}", "10.0.0.1", Instant.parse("2026-01-01T00:00:00Z")));
        store.append(AuditRows.mint("mapped", "{}", "::ffff:10.0.0.1", Instant.EPOCH));
        store.append(
                AuditRows.mint("far", "{}", "::", Instant.parse("9998-12-31T23:59:59.999999999Z")));
        store.append(List.of(AuditRows.rejected()));
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void numbers_of_all_sizes_are_hashed_as_they_are_stored() {
        Random random = new Random(5);
        StringBuilder claims = new StringBuilder("{\"n\":[0");
        for (int i = 0; i < 2_000; i++) {
            double number = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(number)) {
                claims.append(',').append(number).append(',').append(random.nextGaussian());
            }
            BigInteger digits = new BigInteger(random.nextInt(300), random);
            claims.append(',')
                    .append(digits)
                    .append(',')
                    .append(new BigDecimal(digits, 400 - random.nextInt(800)));
        }
        store().append(AuditRows.mint("numbers", claims.append("]}").toString()));
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void numbers_are_stored_as_the_grants_saw_them() {
        store().append(
                        AuditRows.mint(
                                "exact",
                                "{\"n\":[1e400,-1E-400,5.00000000000000000000000000000000000001,"
                                        + "123456789012345678901234567890]}"));
        store().append(AuditRows.mint("beyond", "{\"n\":1e20000}"));
        database.assertRows(
                "SELECT claims ->> 'n' FROM audit.event WHERE step = 1 ORDER BY mint_id",
                "[1%s, -0.%s1, 5.00000000000000000000000000000000000001,"
                                .formatted("0".repeat(400), "0".repeat(399))
                        + " 123456789012345678901234567890]",
                "1E+20000");
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_refused_batch_leaves_no_gap() {
        PostgresEventStore store = store();
        List<Event> mint = AuditRows.mint("one", "{}");
        store.append(mint);
        assertThrows(EventRefused.class, () -> store.append(mint));
        store.append(AuditRows.mint("two", "{}"));
        database.assertRows("SELECT max(seq) FROM audit.event", "4");
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void after_a_commit_that_nobody_knows_the_outcome_of_a_new_chain_begins() {
        PostgresEventStore store = store();
        store.append(AuditRows.mint("one", "{}"));
        loseTheOutcome(() -> store.append(AuditRows.mint("two", "{}")));
        store.append(AuditRows.mint("three", "{}"));
        database.assertRows(
                "SELECT max(seq) FROM audit.event GROUP BY chain ORDER BY chain", "2", "2");
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_row_that_is_lost_while_nobody_knows_the_outcome_of_the_next_is_counted_all_the_same() {
        PostgresEventStore store = store();
        var _ = store.append(AuditRows.mint("one", "{}"), ACME);
        loseTheOutcome(() -> store.append(AuditRows.mint("two", "{}")));
        database.removeEvents("subject = 'one'");
        store.append(AuditRows.mint("three", "{}"));
        store.append(AuditRows.mint("four", "{}"));
        assertEquals(List.of(1L, 0L), List.of(store.removed(), store.notReplicated()));
    }

    /** The connection breaks before the server has said what became of the commit. */
    private void loseTheOutcome(Executable writing) {
        database.runAsSuperuser(
                """
                CREATE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
                CREATE TRIGGER dies AFTER INSERT ON log.event
                EXECUTE FUNCTION public.die();
                """);
        assertThrows(StoreUnreachable.class, writing);
        database.runAsSuperuser("DROP TRIGGER dies ON log.event; DROP FUNCTION public.die()");
    }

    @Test
    void a_last_row_that_somebody_removes_leaves_a_hole_even_before_it_is_sealed() {
        PostgresEventStore store = store();
        store.append(AuditRows.mint("one", "{}"));
        var _ = store.append(AuditRows.mint("two", "{}"), ACME);
        database.removeEvents("subject = 'two'");
        store.append(AuditRows.mint("three", "{}"));
        store.append(AuditRows.mint("four", "{}"));
        assertEquals(List.of(1L, 0L), List.of(store.removed(), store.notReplicated()));
        database.assertRows(
                """
                SELECT subject || ' ' || min(seq) || ' to ' || max(seq)
                  FROM audit.event GROUP BY subject ORDER BY min(mint_id::text)
                """,
                "one 1 to 2",
                "three 5 to 6",
                "four 7 to 8");
        Seals.seal(database);
        assertNotEquals(List.of(), Seals.wrong(database));
    }

    @Test
    void a_row_that_a_promoted_standby_lacks_ends_its_chain_whatever_is_asked_beside() {
        PostgresEventStore store = store();
        var _ = store.append(AuditRows.mint("one", "{}"), ACME);
        database.removeEvents("subject = 'one'");
        database.runAsSuperuser(
                """
                SET allow_system_table_mods = on;
                ALTER FUNCTION pg_catalog.pg_walfile_name(pg_lsn) RENAME TO on_the_old_timeline;
                CREATE FUNCTION pg_catalog.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql
                RETURN '0000000F' || right(on_the_old_timeline($1), 16);
                """);
        var _ = store.append(AuditRows.mint("two", "{}"), ACME);
        assertEquals(List.of(0L, 1L), List.of(store.removed(), store.notReplicated()));
        database.assertRows("SELECT min(seq) FROM audit.event WHERE subject = 'two'", "1");
    }

    @Test
    void the_changes_of_each_tenant_are_a_chain() {
        database.admin(
                """
                INSERT INTO broker.tenant (name, display_name) VALUES ('acme', 'Ä "\\ :'), ('b', NULL);
                UPDATE broker.tenant SET display_name = 'other' WHERE name = 'acme';
                INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://x.example', '{org}');
                DELETE FROM broker.shared_issuer WHERE issuer = 'https://x.example';
                """);
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
        database.assertRows(
                "SELECT count(*) > 10 FROM audit.config_change WHERE tenant IS NULL", "t");
    }
}
