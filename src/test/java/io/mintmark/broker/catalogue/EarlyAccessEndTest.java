package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the credentials of access that ends before its time. */
class EarlyAccessEndTest {
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
}
