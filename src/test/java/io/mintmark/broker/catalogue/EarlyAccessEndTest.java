package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What becomes of the credentials of access that ends before its time. */
class EarlyAccessEndTest {
    private static final String RECEIVER =
            """
            UPDATE broker.tenant SET notice_url = 'https://hooks.example.com', notice_secret = '{"file": "notices"}' WHERE name = 'acme'
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);
    private int mints;

    @BeforeEach
    void end_credentials() {
        database.admin("UPDATE broker.access_rule SET end_credentials = true WHERE id = 1");
    }

    private String granted(String subject, String key) {
        String request = asked.asks(subject, key, 600);
        if (key.equals("deploy")) {
            assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        }
        return request;
    }

    /** A mint under the grant of a request, of five minutes, recorded as asked for and issued. */
    private void minted(String request, String type) {
        String columns =
                """
                request_id, tenant, idp, issuer, subject, key, provider, provider_type, grant_id, grant_revision, broker
                """;
        String mint = requested(request, type);
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, %1$s, credential_id, issued_at, expires_at)
                SELECT mint_id, 2, 'issued', now(), %1$s, 'id', now(), now() + interval '5 minutes'
                  FROM audit.event WHERE mint_id = '%2$s'
                """
                        .formatted(columns, mint));
    }

    private String requested(String request, String type) {
        mints++;
        String mint =
                database.value(
                        "SELECT left(overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15 FOR 1), 35) || '%d'"
                                .formatted(mints));
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         provider, provider_type, grant_id, grant_revision, broker, expires_at, token_hash)
                SELECT '%s', 1, 'requested', now(), 'r', 'acme', q.idp, q.issuer, q.subject, q.key, 'own', '%s', q.grant_id, 1, 'test',
                       now() + interval '5 minutes', sha256('token') FROM broker.access_request AS q WHERE q.id = '%s'
                """
                        .formatted(mint, type, request));
        return mint;
    }

    private void assertStates(String request, String... expected) {
        database.assertRows(
                Who.AUDITOR,
                "SELECT provider_type || ' ' || state FROM audit.access_credential WHERE request = '%s' ORDER BY 1"
                        .formatted(request),
                expected);
    }

    @Test
    void what_the_requester_gives_back_ends_as_far_as_its_type_can() {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        minted(request, "postgresql");
        minted(request, "jwt");
        assertStates(request, "jwt cannot_end", "postgresql lasts", "ssh lasts");
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertStates(request, "jwt cannot_end", "postgresql ending", "ssh revoked");
        assertEquals(
                "[cannot_end, ending, revoked]",
                asked.one(
                        """
                        SELECT c ->> 'state' FROM internal.access_requests('acme', 'sso', 'dev:eve', '{}', 'one', '%s') AS q
                         CROSS JOIN jsonb_array_elements(q.credentials) AS c ORDER BY 1
                        """
                                .formatted(request)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.subject_grant SET enabled = false",
                "DELETE FROM broker.subject_grant",
                "INSERT INTO broker.grant_review (grant_id, verdict, note) SELECT id, 'remove', 'x' FROM broker.subject_grant"
            })
    void it_ends_whoever_ends_the_access(String edit) {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        database.run(Who.TENANT_ADMIN, edit);
        assertStates(request, "ssh revoked");
        database.assertRows(
                "SELECT created_by || ': ' || (reason = 'The access of request %s ended early') FROM broker.ended_credential"
                        .formatted(request),
                "test_tenant_admin: true");
    }

    @Test
    void the_notice_of_the_end_has_the_state_of_each_credential() {
        database.admin(RECEIVER);
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        minted(request, "postgresql");
        minted(request, "jwt");
        asked.decides("sso", "lead:joe", request, "withdraw");
        database.assertRows(
                "SELECT due - wanted_at FROM runtime.access_notice WHERE type LIKE '%.ended'",
                "00:00:05");
        database.runAsSuperuser("UPDATE work.access_notice SET due = now()");
        assertEquals(
                "[jwt cannot_end true, postgresql ending true, ssh revoked true]",
                endNoticed("(c ->> 'expiresAt')::timestamptz > now()"));
    }

    @Test
    void the_notice_waits_for_the_end_of_credentials_and_says_that_they_have_ended() {
        database.admin(RECEIVER);
        String request = granted("dev:eve", "deploy");
        minted(request, "postgresql");
        asked.decides("sso", "lead:joe", request, "withdraw");
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, tenant, key, provider, provider_type, credential_id, reason, broker)
                SELECT mint_id, 3, 'ended', now(), tenant, key, provider, provider_type, credential_id, 'undone', broker
                  FROM audit.event WHERE step = 2;
                UPDATE work.access_notice SET due = now()
                """);
        assertEquals("postgresql ended true", endNoticed("true"));
    }

    @Test
    void the_notice_of_an_end_that_is_complete_does_not_wait() {
        database.admin(RECEIVER);
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        asked.decides("sso", "lead:joe", request, "withdraw");
        assertEquals("ssh revoked true", endNoticed("true"));
    }

    /**
     * Type and state of each credential c in the notice of the end, and whether the condition
     * holds.
     */
    private String endNoticed(String condition) {
        return asked.one(
                """
                SELECT (c ->> 'type') || ' ' || (c ->> 'state') || ' ' || (%s)
                  FROM internal.take_notices('r', 10, 60) AS n CROSS JOIN jsonb_array_elements(n.data -> 'credentials') AS c
                 WHERE n.type LIKE '%%.ended' ORDER BY 1
                """
                        .formatted(condition));
    }

    @Test
    void it_ends_if_an_approver_withdraws_the_access() {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        minted(request, "postgresql");
        minted(request, "jwt");
        assertEquals("withdrawn", asked.decides("sso", "lead:joe", request, "withdraw"));
        assertStates(request, "jwt cannot_end", "postgresql ending", "ssh revoked");
    }

    @Test
    void explain_says_who_withdrew_access_and_who_gave_it_back() {
        String withdrawn = granted("dev:eve", "deploy");
        asked.decides("sso", "lead:joe", withdrawn, "withdraw");
        assertSeen("dev:eve", "false: lead:joe of sso withdrew the access of request " + withdrawn);
        String byLogin = granted("dev:ida", "deploy");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'withdraw')"
                        .formatted(byLogin));
        assertSeen("dev:ida", "false: test_tenant_admin withdrew the access of request " + byLogin);
        String back = granted("dev:jim", "deploy");
        asked.gives("dev:jim", back);
        assertSeen("dev:jim", "false: dev:jim gave back the access of request " + back);
        granted("dev:amy", "deploy");
        assertEquals("granted", asked.explained("dev:amy", "deploy"));
        database.admin("UPDATE broker.subject_grant SET enabled = false");
        assertSeen("dev:amy", "false");
    }

    /** In the answer for the key, and in the list of its conditions. */
    private void assertSeen(String subject, String expected) {
        assertEquals(
                "the grant is enabled|true|" + expected,
                asked.explained(subject, "deploy", "concat_ws('|', condition, expected, seen)"));
        database.assertRows(
                Who.AUDITOR,
                """
                SELECT concat_ws('|', c.condition, c.met, c.expected, c.seen)
                  FROM broker.subject_grant AS g
                 CROSS JOIN LATERAL internal.explain_grant(g.id, g.subject, '{"groups": ["dev"]}', now()) AS c
                 WHERE g.subject = '%s' AND NOT c.met
                """
                        .formatted(subject),
                "the grant is enabled|f|true|" + expected);
    }

    /**
     * Only of the same parties, while the access could have lasted, and not what an admin ended.
     */
    @Test
    void the_last_withdrawal_of_each_key_is_known_to_its_own_subject() {
        String first = granted("dev:eve", "deploy");
        asked.gives("dev:eve", first);
        String last = granted("dev:eve", "deploy");
        asked.decides("console", "lead:joe", last, "withdraw");
        granted("dev:jim", "deploy");
        database.admin("UPDATE broker.subject_grant SET enabled = false");
        String withdrawn =
                "SELECT concat_ws('|', key, request, withdrawn_by) FROM internal.withdrawn_access('acme', '%s', '%s', %s, '{deploy,root}')";
        String expected = "deploy|" + last + "|lead:joe of console";
        assertEquals(expected, asked.one(withdrawn.formatted("sso", "dev:eve", "NULL, NULL")));
        assertEquals("[]", asked.one(withdrawn.formatted("sso", "dev:eve", "'agents', 'bot'")));
        assertEquals("[]", asked.one(withdrawn.formatted("sso", "dev:jim", "NULL, NULL")));
        assertEquals("[]", asked.one(withdrawn.formatted("sso", "dev:ida", "NULL, NULL")));
        database.rewrite("access_request", "access = 60");
        database.runAsSuperuser(
                "ALTER TABLE broker.access_decision DISABLE TRIGGER USER; UPDATE broker.access_decision SET created_at = now() - interval '61 seconds'");
        assertEquals(
                "deploy|" + first, asked.one(withdrawn.formatted("sso", "dev:eve", "NULL, NULL")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1",
                "UPDATE broker.access_rule SET max_access = 1800 WHERE id = 1",
                "DELETE FROM broker.access_approver WHERE rule = 1; DELETE FROM broker.access_rule WHERE id = 1"
            })
    void a_rule_with_end_access_ends_its_access_when_it_changes(String edit) {
        database.admin("UPDATE broker.access_rule SET end_access = true WHERE id IN (1, 2)");
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        String other = asked.asks("dev:jim", "deploy", 7200);
        asked.decides("sso", "lead:ann", other, "approve");
        asked.decides("sso", "lead:bob", other, "approve");
        minted(other, "ssh");
        database.run(Who.TENANT_ADMIN, edit);
        assertStates(request, "ssh revoked");
        assertEquals("the grant is enabled", asked.explained("dev:eve", "deploy"));
        assertEquals("granted", asked.explained("dev:jim", "deploy"));
        assertStates(other, "ssh lasts");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET enabled = false, end_access = false",
                "UPDATE broker.access_rule SET owner = 'team'",
                "UPDATE broker.access_rule SET end_access = false"
            })
    void without_end_access_or_another_content_the_access_lasts(String edit) {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        String request = granted("dev:eve", "deploy");
        String pending = asked.asks("dev:jim", "deploy", 600);
        minted(request, "ssh");
        database.run(Who.TENANT_ADMIN, edit);
        assertStates(request, "ssh lasts");
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
        database.assertRows(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(pending),
                edit.contains("enabled") ? "void" : "pending");
    }

    @Test
    void to_disable_a_rule_and_its_access_needs_no_second_admin() {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.access_rule SET end_access = true");
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false");
        assertStates(request, "ssh revoked");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET enabled = false, end_access = false",
                "UPDATE broker.access_rule SET end_access = false; UPDATE broker.access_rule SET enabled = false",
                "UPDATE broker.access_rule SET end_access = false; UPDATE broker.access_rule SET max_access = 600",
                "UPDATE broker.access_rule SET end_access = false; DELETE FROM broker.access_approver; DELETE FROM broker.access_rule"
            })
    void with_a_second_admin_nobody_alone_turns_end_access_off(String edit) {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.run(Who.TENANT_ADMIN, edit);
        assertStates(request, "ssh revoked");
    }

    @Test
    void end_access_that_is_turned_off_awaits_approval_and_is_shown() {
        database.admin("UPDATE broker.access_rule SET end_access = true WHERE id = 1");
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET end_access = false WHERE id = 1");
        database.assertRows(
                "SELECT concat_ws('|', name, allows -> 'end_access') FROM broker.pending_approval",
                "1|false");
        database.admin(database.value("SELECT statement FROM broker.pending_approval"));
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false WHERE id = 1");
        assertStates(request, "ssh lasts");
    }

    @Test
    void of_two_grants_of_one_subject_for_one_key_only_one_ends() {
        String first = granted("dev:eve", "deploy");
        String second = asked.asks("dev:eve", "deploy", 900);
        assertEquals("granted", asked.decides("sso", "lead:bob", second, "approve"));
        minted(first, "ssh");
        minted(second, "ssh");
        asked.decides("sso", "lead:bob", first, "withdraw");
        assertStates(first, "ssh revoked");
        assertStates(second, "ssh lasts");
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
    }

    @Test
    void another_grant_for_the_same_key_keeps_its_credentials() {
        String ended = granted("dev:eve", "deploy");
        String other = granted("dev:jim", "deploy");
        minted(ended, "ssh");
        minted(other, "ssh");
        asked.gives("dev:eve", ended);
        assertStates(ended, "ssh revoked");
        assertStates(other, "ssh lasts");
    }

    @Test
    void without_end_credentials_they_last_and_break_glass_has_it_by_default() {
        database.admin("UPDATE broker.access_rule SET end_credentials = false WHERE id = 1");
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        asked.gives("dev:eve", request);
        assertStates(request, "ssh lasts");
        String glass = granted("dev:eve", "root");
        minted(glass, "ssh");
        asked.gives("dev:eve", glass);
        assertStates(glass, "ssh revoked");
    }

    @Test
    void what_counts_is_what_the_rule_said_when_the_request_was_made() {
        String request = granted("dev:eve", "deploy");
        database.admin("UPDATE broker.access_rule SET end_credentials = false WHERE id = 1");
        minted(request, "ssh");
        asked.gives("dev:eve", request);
        assertStates(request, "ssh revoked");
    }

    @Test
    void a_mint_that_was_in_flight_is_found_by_the_next_look() {
        String request = granted("dev:eve", "deploy");
        asked.gives("dev:eve", request);
        requested(request, "ssh");
        assertStates(request, "ssh lasts");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        assertStates(request, "ssh revoked");
        assertEquals("0", asked.one("SELECT internal.end_credentials_of_access(10)"));
        database.runAsSuperuser(
                "UPDATE work.early_access_end SET ended_at = now() - interval '3 minutes', next_try = now()");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        database.assertRows("SELECT count(*) FROM runtime.early_access_end", "0");
    }

    @Test
    void it_counts_as_the_one_change_that_ends_the_access() {
        String request = granted("dev:eve", "deploy");
        for (int i = 0; i < 9; i++) {
            minted(request, "ssh");
        }
        String changes =
                "SELECT changes FROM runtime.changes_of_day WHERE tenant = 'acme' ORDER BY number DESC LIMIT 1";
        long before = Long.parseLong(database.value(changes));
        database.run(Who.TENANT_ADMIN, "UPDATE broker.subject_grant SET enabled = false");
        database.assertRows("SELECT count(*) FROM broker.ended_credential", "9");
        assertEquals(before + 1, Long.parseLong(database.value(changes)));
    }

    @Test
    void a_limit_of_the_tenant_delays_the_end_of_credentials_and_not_that_of_the_access() {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        minted(request, "ssh");
        database.runAsSuperuser(
                """
                ALTER TABLE broker.ended_credential DISABLE TRIGGER USER;
                INSERT INTO broker.ended_credential (mint_id, tenant, provider_type, expires_at, reason)
                SELECT gen_random_uuid(), 'acme', 'ssh', now() + interval '1 hour', 'INC-1' FROM generate_series(1, 20000);
                ALTER TABLE broker.ended_credential ENABLE TRIGGER USER
                """);
        database.run(Who.TENANT_ADMIN, "UPDATE broker.subject_grant SET enabled = false");
        assertStates(request, "ssh lasts", "ssh lasts");
        assertEquals("the grant is enabled", asked.explained("dev:eve", "deploy"));
        database.runAsSuperuser(
                """
                ALTER TABLE broker.ended_credential DISABLE TRIGGER USER;
                DELETE FROM broker.ended_credential;
                ALTER TABLE broker.ended_credential ENABLE TRIGGER USER
                """);
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        assertStates(request, "ssh revoked", "ssh revoked");
    }

    /** The end of thousands would take minutes, and a statement of the service has seconds. */
    @Test
    void many_credentials_end_bit_by_bit() {
        String request = granted("dev:eve", "deploy");
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         provider, provider_type, grant_id, grant_revision, broker, expires_at, token_hash, credential_id, issued_at)
                SELECT (left(overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15 FOR 1), 33) || lpad(n::text, 3, '0'))::uuid,
                       s.step, s.kind, now(), 'r', 'acme', q.idp, q.issuer, q.subject, q.key, 'own', 'ssh', q.grant_id, 1, 'test',
                       now() + interval '5 minutes', CASE s.step WHEN 1 THEN sha256('token') END, CASE s.step WHEN 2 THEN 'id' END,
                       CASE s.step WHEN 2 THEN now() END
                  FROM broker.access_request AS q, generate_series(1, 130) AS n, (VALUES (1, 'requested'), (2, 'issued')) AS s (step, kind)
                 ORDER BY n, s.step
                """);
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertEnded("100");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        assertEnded("105");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(100)"));
        assertEnded("130");
    }

    /** A grant of 30 days can have millions, and a turn reads 10,000 mints. */
    @Test
    void credentials_that_have_expired_keep_no_turn_from_its_end() {
        String request = granted("dev:eve", "deploy");
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         provider, provider_type, grant_id, grant_revision, broker, expires_at, token_hash)
                SELECT (left(overlay(audit.first_mint_id(now() - interval '1 minute')::text PLACING '7' FROM 15 FOR 1), 31) || lpad(n::text, 5, '0'))::uuid,
                       1, 'requested', now(), 'r', 'acme', q.idp, q.issuer, q.subject, q.key, 'own', 'ssh', q.grant_id, 1, 'test', now(), sha256('token')
                  FROM broker.access_request AS q, generate_series(1, 10000) AS n
                """);
        minted(request, "ssh");
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertEnded("0");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        assertEnded("0");
        assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
        assertEnded("1");
        assertEquals("0", asked.one("SELECT internal.end_credentials_of_access(10)"));
    }

    /** The statement has written one of them, and has not locked the tenant yet. */
    @Test
    void a_statement_that_ends_one_of_them_delays_only_those_of_its_tenant() throws Exception {
        String request = granted("dev:eve", "deploy");
        asked.gives("dev:eve", request);
        String mint = requested(request, "ssh");
        String other = requested(request, "ssh");
        try (Connection open = database.connect(Who.TENANT_ADMIN);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try (Statement lock = open.createStatement()) {
                lock.execute("SELECT pg_advisory_lock(7)");
                Future<?> waiting =
                        threads.submit(() ->
                                database.run(
                                        Who.TENANT_ADMIN,
                                        """
                                        INSERT INTO broker.ended_credential (mint_id, reason)
                                        SELECT '%s'::uuid, 'INC-1' UNION ALL SELECT '%s'::uuid, 'INC-1' || left(pg_advisory_lock(7)::text, 0)
                                        """
                                                .formatted(mint, other)));
                Eventually.holds(() ->
                        waiting.isDone()
                                || !database.column("SELECT pid FROM pg_locks WHERE NOT granted")
                                        .isEmpty());
                assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(10)"));
                assertEnded("0");
                lock.execute("SELECT pg_advisory_unlock(7)");
                waiting.get();
            }
        }
        assertEnded("2");
        database.assertRows(
                "SELECT next_try > now() + interval '10 seconds' FROM runtime.early_access_end",
                "t");
    }

    private void assertEnded(String number) {
        database.assertRows("SELECT count(*) FROM broker.ended_credential", number);
    }

    @Test
    void what_one_tenant_leaves_keeps_no_other_waiting() throws Exception {
        String request = granted("dev:eve", "deploy");
        minted(request, "ssh");
        asked.gives("dev:eve", request);
        database.admin("INSERT INTO broker.tenant (name) VALUES ('globex')");
        database.runAsSuperuser(
                """
                UPDATE work.early_access_end SET next_try = now();
                INSERT INTO work.early_access_end (request, tenant, next_try)
                SELECT gen_random_uuid(), 'globex', now() - interval '1 minute' FROM generate_series(1, 40);
                """);
        try (Connection open = database.connect(Who.ADMIN)) {
            open.setAutoCommit(false);
            try (Statement edit = open.createStatement()) {
                edit.execute("UPDATE broker.tenant SET display_name = 'x' WHERE name = 'globex'");
            }
            assertEquals("1", asked.one("SELECT internal.end_credentials_of_access(20)"));
            open.rollback();
        }
        database.runAsSuperuser(
                "UPDATE work.early_access_end SET next_try = now() WHERE tenant = 'acme'");
        assertEquals("3", asked.one("SELECT internal.end_credentials_of_access(20)"));
        database.assertRows(
                Who.OWNER,
                "SELECT tenant || ' ' || count(*) FROM work.early_access_end WHERE next_try > now() GROUP BY tenant ORDER BY 1",
                "acme 1",
                "globex 2");
    }
}
