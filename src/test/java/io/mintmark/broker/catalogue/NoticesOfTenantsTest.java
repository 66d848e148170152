package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** Notices and lapses of one tenant wait for no other tenant's. */
class NoticesOfTenantsTest {
    private static final String URL =
            "notice_url = 'https://hooks.example.com/x', notice_secret = '{\"file\": \"hooks\"}'";

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private List<String> take(int tenants, String beside) {
        return database.column(
                Who.APP,
                """
                SELECT tenant || ' ' || replace(type, 'io.mintmark.access.', '')
                  FROM internal.take_notices('here', %d, 60, '{%s}')
                """
                        .formatted(tenants, beside));
    }

    private void other() {
        database.admin(
                """
                UPDATE broker.tenant SET %1$s;
                INSERT INTO broker.tenant (name) VALUES ('other');
                UPDATE broker.tenant SET %1$s WHERE name = 'other'
                """
                        .formatted(URL));
    }

    private void write(String tenant, int notices, String columns, String values) {
        database.runAsSuperuser(
                """
                INSERT INTO runtime.access_notice (tenant, type, request, data%3$s)
                SELECT '%1$s', 'io.mintmark.access.decided', gen_random_uuid(), '{}'%4$s
                  FROM generate_series(1, %2$d) AS n
                """
                        .formatted(tenant, notices, columns, values));
    }

    @Test
    void thirty_thousand_overdue_ones_of_a_tenant_delay_nobody_elses() {
        other();
        write(
                "acme",
                30_000,
                ", due, wanted_at",
                ", now() - interval '1 hour', now() - interval '1 hour'");
        write("other", 4, "", "");
        take(1, "other"); // plans
        long began = System.nanoTime();
        assertEquals(4, take(64, "acme").stream().filter(one -> one.startsWith("other")).count());
        Duration taken = Duration.ofNanos(System.nanoTime() - began);
        assertTrue(taken.compareTo(Duration.ofSeconds(1)) < 0, taken::toString);
        assertEquals(List.of(), take(64, ""), "both are being sent");
    }

    @Test
    void each_tenant_gets_its_share_of_a_round() {
        other();
        write("acme", 50, ", due", ", now() - interval '1 hour'");
        write("other", 4, "", "");
        List<String> taken = take(2, "");
        assertEquals(8, taken.stream().filter(one -> one.startsWith("acme")).count());
        assertEquals(4, taken.stream().filter(one -> one.startsWith("other")).count());
    }

    @Test
    void what_waits_for_an_earlier_one_has_not_failed_and_keeps_its_place() {
        database.admin("UPDATE broker.tenant SET " + URL);
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals(List.of("acme requested", "acme decided", "acme granted"), take(9, ""));
        database.column(
                Who.OWNER,
                "SELECT internal.postpone_notice(id, 'here', 60, 'HTTP 500')::text"
                        + " FROM runtime.access_notice WHERE type LIKE '%requested'");
        database.column(
                Who.OWNER,
                "SELECT internal.release_notice(id, 'here')::text FROM runtime.access_notice");
        assertEquals(List.of(), take(9, ""), "they wait for the first");
        assertEquals(
                List.of("1", "0", "0", "0"),
                database.column(
                        Who.OWNER,
                        "SELECT tries FROM runtime.access_notice ORDER BY wanted_at, number"));
        database.runAsSuperuser("UPDATE runtime.access_notice SET due = now() WHERE tries = 1");
        assertEquals(List.of("acme requested", "acme decided", "acme granted"), take(9, ""));
    }

    @Test
    void one_that_fails_often_no_longer_holds_back_the_others() {
        database.admin("UPDATE broker.tenant SET " + URL);
        write("acme", 1, ", tries, due", ", 8, now() + interval '5 minutes'");
        write("acme", 2, "", "");
        assertEquals(2, take(9, "").size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.key SET owner = 'x' WHERE tenant = 'acme'",
                "UPDATE broker.access_rule SET reason = 'x' WHERE tenant = 'acme'",
                "UPDATE broker.subject_grant SET enabled = false WHERE tenant = 'acme'",
                "DELETE FROM broker.subject_grant WHERE tenant = 'acme'"
            })
    void an_open_edit_of_a_tenant_delays_only_its_own(String edit) throws SQLException {
        other();
        String granted = asked.asks("dev:kim", "deploy", 600);
        asked.decides("sso", "lead:bob", granted, "approve");
        asked.asks("dev:eve", "deploy", 600);
        database.runAsSuperuser(
                """
                INSERT INTO broker.access_request
                       (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                VALUES ('other', 99, 'k', 'i', 'https://i.example.com', 's', 'one of another', 600, false, 1, now())
                """);
        database.rewrite(
                "access_request",
                "expires_at = now() - interval '1 hour' WHERE status = 'pending'");
        try (Connection open = database.connect(Who.TENANT_ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(edit);
            long began = System.nanoTime();
            assertEquals("1", asked.one("SELECT internal.lapse_access_requests(100)"));
            assertEquals("0", asked.one("SELECT internal.lapse_access_requests(100)"));
            assertEquals(
                    List.of("other decided"),
                    take(9, "").stream().filter(one -> one.startsWith("other")).toList());
            Duration taken = Duration.ofNanos(System.nanoTime() - began);
            assertTrue(taken.compareTo(Duration.ofSeconds(1)) < 0, taken::toString);
            open.rollback();
        }
        assertEquals("1", asked.one("SELECT internal.lapse_access_requests(100)"));
    }

    /** One tenant could otherwise use its changes up, and its notices would wait until midnight. */
    @Test
    void requests_lapse_and_become_void_when_the_changes_of_the_day_are_used_up() {
        database.admin("UPDATE broker.tenant SET " + URL);
        asked.asks("dev:eve", "deploy", 600);
        database.rewrite("access_request", "expires_at = now() - interval '1 hour'");
        asked.asks("dev:jim", "deploy", 600);
        database.admin("UPDATE broker.tenant SET max_changes = 1");
        String used = "SELECT sum(changes) FROM runtime.changes_of_day";
        String before = database.value(used);

        assertEquals("1", asked.one("SELECT internal.lapse_access_requests(100)"));
        database.admin("UPDATE broker.access_rule SET enabled = false WHERE id = 1");

        assertEquals(
                List.of("lapsed", "void"),
                database.column("SELECT status FROM broker.access_request ORDER BY status"));
        assertEquals(before, database.value(used));
        assertEquals(2, take(9, "").stream().filter("acme decided"::equals).count());
    }

    @Test
    void an_end_is_described_as_it_was() {
        database.admin("UPDATE broker.tenant SET " + URL);
        String said =
                """
                SELECT (data ->> 'status') || ' ' || ((data ->> 'validUntil')::timestamptz = created_at) || ' ' || (created_at <= clock_timestamp())
                  FROM internal.take_notices('here', 9, 60) WHERE type LIKE '%ended'
                """;
        String withdrawn = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", withdrawn, "approve");
        asked.gives("dev:eve", withdrawn);
        assertEquals("withdrawn true true", asked.one(said));

        database.runAsSuperuser("DELETE FROM runtime.access_notice");
        String disabled = asked.asks("dev:jim", "deploy", 600);
        asked.decides("sso", "lead:bob", disabled, "approve");
        database.admin("UPDATE broker.subject_grant SET enabled = false WHERE enabled");
        assertEquals("ended true true", asked.one(said));

        database.runAsSuperuser("DELETE FROM runtime.access_notice");
        String over = asked.asks("dev:kim", "deploy", 600);
        asked.decides("sso", "lead:bob", over, "approve");
        database.runAsSuperuser(
                """
                DELETE FROM runtime.access_notice WHERE NOT access_lasts;
                UPDATE runtime.access_notice SET due = now(), wanted_at = now()
                """);
        assertEquals("ended true true", asked.one(said));
    }
}
