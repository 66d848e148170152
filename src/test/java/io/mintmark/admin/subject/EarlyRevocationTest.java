package io.mintmark.admin.subject;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;

/** Which credentials admins can end, and what their rows get from the log. */
@Tag("every-postgres")
class EarlyRevocationTest {
    private static final String END =
            "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', 'INC-7')";
    private static final String ENDED =
            "SELECT concat_ws(' ', right(mint_id::text, 1), tenant, provider_type, expires_at -"
                    + " now() > interval '4 minutes', created_by) FROM broker.ended_credential ORDER BY"
                    + " 1";

    @AutoClose private TestDatabase database;
    private String base = "";

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        base =
                database.value(
                        "SELECT left(overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15"
                                + " FOR 1), 35)");
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme',"
                        + " 'test_tenant_admin')");
    }

    private String mint(int number) {
        return base + number;
    }

    /** A mint of five minutes that was requested, and perhaps has an outcome. */
    private void minted(int number, String tenant, String type, String outcome) {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         provider, provider_type, grant_id, grant_revision, broker, expires_at, token_hash)
                VALUES ('%1$s', 1, 'requested', now(), 'r', '%2$s', 'ci', 'https://ci.example.com', 's', 'api',
                        'own', '%3$s', 1, 1, 'test', now() + interval '5 minutes', sha256('token'));
                """
                        .formatted(mint(number), tenant, type));
        if (!outcome.isEmpty()) {
            database.runAsSuperuser(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                             provider, provider_type, grant_id, grant_revision, broker, reason, credential_id, issued_at, expires_at)
                    SELECT mint_id, 2, '%2$s', now(), request_id, tenant, idp, issuer, subject, key, provider, provider_type,
                           grant_id, grant_revision, broker, %3$s FROM audit.event WHERE mint_id = '%1$s'
                    """
                            .formatted(
                                    mint(number),
                                    outcome,
                                    outcome.equals("failed")
                                            ? "'provider_misconfigured', NULL, NULL, NULL"
                                            : "NULL, 'id', now(), now() + interval '5 minutes'"));
        }
    }

    private String refused(Who who, String sql) {
        return String.valueOf(
                assertThrows(IllegalStateException.class, () -> database.run(who, sql)).getCause());
    }

    @Test
    void the_row_gets_the_tenant_the_type_and_the_end_from_the_log() {
        minted(1, "acme", "ssh", "issued");
        minted(2, "acme", "x509", "");
        database.admin(END.formatted(mint(1)));
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.ended_credential (mint_id, tenant, reason) VALUES ('%s', 'acme', 'INC-7')"
                        .formatted(mint(2)));

        database.assertRows(
                Who.AUDITOR, ENDED, "1 acme ssh t test_admin", "2 acme x509 t test_tenant_admin");
        database.assertRows(
                Who.AUDITOR,
                "SELECT operation || ' ' || (after ->> 'mint_id') FROM audit.config_change WHERE"
                        + " table_name = 'ended_credential' ORDER BY revision",
                "INSERT " + mint(1),
                "INSERT " + mint(2));
    }

    @Test
    void what_cannot_be_ended_is_refused_with_a_reason() {
        minted(1, "acme", "jwt", "issued");
        minted(2, "acme", "ssh", "failed");
        minted(3, "acme", "ssh", "issued");

        assertShows(refused(Who.ADMIN, END.formatted(mint(1))), "is of type \"jwt\"");
        assertShows(
                refused(Who.ADMIN, END.formatted(mint(2))),
                "failed (provider_misconfigured), so there is no credential");
        assertShows(refused(Who.ADMIN, END.formatted(mint(9))), "There is no mint " + mint(9));
        assertShows(
                refused(
                        Who.ADMIN,
                        "INSERT INTO broker.ended_credential (mint_id, tenant, reason) VALUES ('%s', 'other', 'x')"
                                .formatted(mint(3))),
                "belongs to tenant \"acme\", not to tenant \"other\"");
        assertShows(
                refused(
                        Who.ADMIN,
                        "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', ' ')"
                                .formatted(mint(3))),
                "has no reason");
        assertShows(
                refused(
                        Who.ADMIN,
                        "INSERT INTO broker.ended_credential (mint_id) VALUES ('%s')"
                                .formatted(mint(3))),
                "reason");
        database.admin(END.formatted(mint(3)));
        assertShows(refused(Who.ADMIN, END.formatted(mint(3))), "a_credential_is_ended_once");
        database.assertRows(ENDED, "3 acme ssh t test_admin");
    }

    @Test
    void tenant_admins_end_their_own_mints_and_auditors_none() {
        minted(1, "other", "ssh", "issued");
        minted(2, "acme", "ssh", "issued");
        assertShows(
                refused(Who.TENANT_ADMIN, END.formatted(mint(1))),
                "There is no mint %s that you may see".formatted(mint(1)));
        assertShows(refused(Who.AUDITOR, END.formatted(mint(2))), "permission denied");
        assertShows(refused(Who.APP, END.formatted(mint(2))), "permission denied");
        database.admin(END.formatted(mint(1)));
        database.assertRows(Who.TENANT_ADMIN, ENDED);
    }

    @Test
    void an_ended_credential_stays_ended() {
        minted(1, "acme", "ssh", "issued");
        database.admin(END.formatted(mint(1)));
        for (String sql :
                List.of(
                        "UPDATE broker.ended_credential SET reason = 'x'",
                        "DELETE FROM broker.ended_credential",
                        "TRUNCATE broker.ended_credential")) {
            assertTrue(refused(Who.ADMIN, sql).contains("permission denied"), sql);
            String byOwner = refused(Who.OWNER, "SET ROLE mintmark_owner; " + sql);
            assertShows(byOwner, "is not allowed");
        }
    }

    @Test
    void to_end_a_credential_counts_as_a_change_that_reduces_access() {
        database.admin("UPDATE broker.tenant SET max_changes = 1 WHERE name = 'acme'");
        for (int number = 1; number <= 3; number++) {
            minted(number, "acme", "ssh", "issued");
        }
        database.run(Who.TENANT_ADMIN, END.formatted(mint(1)));
        database.run(Who.TENANT_ADMIN, END.formatted(mint(2)));
        assertShows(
                refused(Who.TENANT_ADMIN, END.formatted(mint(3))), "would have 3 changes today");
    }

    @Test
    void a_tenant_has_no_more_living_ended_credentials_than_a_list_holds() {
        minted(1, "acme", "ssh", "issued");
        database.runAsSuperuser(
                """
                SET session_replication_role = replica;
                ALTER TABLE broker.ended_credential DISABLE TRIGGER ALL;
                INSERT INTO broker.ended_credential (mint_id, tenant, provider_type, expires_at, reason, created_at, created_by, updated_at, updated_by)
                SELECT ('01980f5e-8a00-7000-8001-' || lpad(to_hex(n), 12, '0'))::uuid, 'acme', 'ssh', now() + interval '1 hour', 'x', now(), 'x', now(), 'x'
                  FROM generate_series(1, 20000) AS n;
                """);
        database.runAsSuperuser("ALTER TABLE broker.ended_credential ENABLE TRIGGER ALL");
        assertShows(
                refused(Who.ADMIN, END.formatted(mint(1))), "more than 20000 ended credentials");
    }
}
