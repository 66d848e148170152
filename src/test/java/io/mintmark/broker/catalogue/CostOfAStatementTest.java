package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;

/**
 * What an admin's statement costs, in calls of functions: the same in the first tenant and beside
 * others that have rows of the same names.
 */
@Tag("every-postgres")
class CostOfAStatementTest {
    /** Tenants from %1$d to %2$d: as in a company whose teams all start from one template. */
    private static final String TENANTS =
            """
            INSERT INTO broker.tenant (name)
            SELECT 't' || n FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            SELECT 'ci-' || n, 't' || n, 'https://ci.example.com', ARRAY['mintmark-' || n]
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            SELECT 't' || n, 'aws', 'aws-sts', '{"region": "eu-central-1"}'
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            SELECT 't' || n, 'deploy', 'aws', 3600,
                   jsonb_build_object('role_arn', 'arn:aws:iam::123456789012:role/t' || n)
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            SELECT 't' || n, 'ci-' || n, 'repo:acme/shop', 'deploy', 'OPS-1'
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.blocked_subject (tenant, idp, subject, reason)
            SELECT 't' || n, 'ci-' || n, 'repo:acme/left', 'OPS-2'
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
            SELECT 'agents-' || n, 't' || n, 'https://agents.example.com', ARRAY['mintmark-agents-' || n], '{actor}'
              FROM generate_series(%1$d, %2$d) AS n;
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent, end_access)
            SELECT 't' || n, 'deploy', 'ci-' || n, r.subject, 7200, r.consent, NOT r.consent
              FROM generate_series(%1$d, %2$d) AS n,
                   (VALUES ('asks', false), ('grants', false), ('consents', true)) AS r (subject, consent);
            INSERT INTO broker.access_approver (rule, role_name)
            SELECT r.id, 'test_admin' FROM broker.access_rule AS r
             WHERE NOT r.consent AND substr(r.tenant, 2)::int BETWEEN %1$d AND %2$d ORDER BY r.id;
            """;

    private static final String REQUESTS =
            """
            SELECT a.id FROM generate_series(%d, %d) AS n
             CROSS JOIN (VALUES ('asks', NULL), ('grants', NULL), ('consents', 'agent:bot')) AS r (subject, actor)
             CROSS JOIN LATERAL internal.request_access('t' || n, 'ci-' || n, r.subject, '{}', CASE WHEN r.actor IS NOT NULL THEN 'agents-' || n END, r.actor,
                                                        '{deploy}', 'to mend incident 7', 3600, false) AS a
            """;

    private static final String GRANTED =
            """
            INSERT INTO broker.access_decision (request, verdict)
            SELECT q.id, 'approve' FROM broker.access_request AS q
             WHERE q.subject = 'grants' AND substr(q.tenant, 2)::int BETWEEN %d AND %d
            """;

    private static TestDatabase one;
    private static TestDatabase many;

    @BeforeAll
    static void start() {
        one = TestDatabase.migrated();
        fill(one, 1, 1);
        many = one.copy();
        fill(many, 2, 60);
        for (TestDatabase database : new TestDatabase[] {one, many}) {
            database.runAsSuperuser(
                    "ALTER DATABASE %s SET track_functions = 'all'".formatted(database.name()));
        }
    }

    /** The script for the tenants with these numbers. */
    private static String between(int first, int last, String script) {
        return script.formatted(first, last);
    }

    private static void fill(TestDatabase database, int first, int last) {
        database.admin(between(first, last, TENANTS));
        database.run(Who.APP, between(first, last, REQUESTS));
        database.admin(between(first, last, GRANTED));
    }

    @AfterAll
    static void stop() {
        one.close();
        many.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO broker.tenant (name) VALUES ('t0')",
                "UPDATE broker.tenant SET max_duration = 1800 WHERE name = 't1'",
                "INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)"
                        + " VALUES ('ci', 't1', 'https://ci.example.com', '{mintmark}')",
                "UPDATE broker.identity_provider SET audiences = '{mintmark}' WHERE name = 'ci-1'",
                "UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = 'ci-1'",
                "INSERT INTO broker.access_provider (tenant, name, type, settings)"
                        + " VALUES ('t1', 'gcp', 'aws-sts', '{\"region\": \"eu-central-1\"}')",
                "UPDATE broker.access_provider SET settings = '{\"region\": \"eu-west-1\"}'"
                        + " WHERE tenant = 't1'",
                "INSERT INTO broker.key (tenant, name, provider, max_duration, settings)"
                        + " VALUES ('t1', 'read', 'aws', 3600,"
                        + " '{\"role_arn\": \"arn:aws:iam::123456789012:role/read\"}')",
                "UPDATE broker.key SET max_duration = 1800 WHERE tenant = 't1'",
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key)"
                        + " VALUES ('t1', 'ci-1', 'repo:acme/other', 'deploy')",
                "INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)"
                        + " VALUES ('t1', 'ci-1', 'repo:acme/*', 'glob', 'deploy')",
                "UPDATE broker.subject_grant SET subject = 'repo:acme/moved' WHERE tenant = 't1' AND request_id IS NULL",
                "DELETE FROM broker.subject_grant WHERE tenant = 't1'",
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, reason)"
                        + " VALUES ('t1', 'ci-1', 'repo:acme/shop', 'OPS-4')",
                "INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, approvals)"
                        + " VALUES ('t1', 'deploy', 'ci-1', 'repo:acme/shop', 3600, 1)",
                "INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent)"
                        + " VALUES ('t1', 'deploy', 'ci-1', 'repo:acme/shop', 3600, true)",
                "UPDATE broker.access_rule SET max_access = 3600 WHERE tenant = 't1' AND subject = 'grants'",
                "UPDATE broker.access_rule SET enabled = false WHERE tenant = 't1' AND subject = 'grants'",
                "INSERT INTO broker.access_approver (rule, idp, subject, step)"
                        + " SELECT id, 'ci-1', 'lead', 2 FROM broker.access_rule WHERE tenant = 't1' AND subject = 'asks'",
                "DELETE FROM broker.access_approver WHERE tenant = 't1'",
                "INSERT INTO broker.access_decision (request, verdict)"
                        + " SELECT id, 'approve' FROM broker.access_request WHERE tenant = 't1' AND subject = 'asks'",
                "INSERT INTO broker.access_decision (request, verdict)"
                        + " SELECT id, 'refuse' FROM broker.access_request WHERE tenant = 't1' AND subject = 'asks'",
                "INSERT INTO broker.access_decision (request, verdict)"
                        + " SELECT id, 'withdraw' FROM broker.access_request WHERE tenant = 't1' AND subject = 'grants'",
                "INSERT INTO broker.console_access (tenant, claim, value, reason)"
                        + " VALUES ('t1', 'sub', '\"ann\"', 'OPS-5')"
            })
    void a_write_costs_the_same_beside_other_tenants(String sql) throws SQLException {
        Map<String, Long> alone = calls(one, sql);
        assertTrue(alone.size() > 1, alone::toString);
        assertEquals(alone, calls(many, sql));
    }

    @Test
    void a_consent_costs_the_same_beside_other_tenants() throws SQLException {
        String sql =
                """
                SELECT status FROM internal.decide_access('t1', 'ci-1', 'consents', jsonb_build_object('iat', extract(epoch FROM now())::bigint),
                                                          false, '%s', 'approve', NULL)
                """
                        .formatted(
                                one.value(
                                        "SELECT id FROM broker.access_request WHERE tenant = 't1' AND consent"));
        assertEquals(calls(one, Who.APP, sql), calls(many, Who.APP, sql));
        assertEquals("granted", one.rolledBack(Who.APP, session -> first(session, sql)));
    }

    private static String first(Connection session, String sql) throws SQLException {
        try (Statement statement = session.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            assertTrue(rows.next());
            return rows.getString(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM broker.lint WHERE tenant = 't1'",
                "SELECT * FROM broker.who_can_mint WHERE tenant = 't1'",
                "SELECT * FROM broker.what_can_mint('ci-1', 'repo:acme/shop')",
                "SELECT * FROM broker.explain('ci-1', 'repo:acme/shop', '{}')",
                "SELECT * FROM broker.explain('ci-1', 'asks', '{}')",
                "SELECT * FROM broker.pending_approval WHERE tenant = 't1'",
                "SELECT * FROM audit.grant_review WHERE tenant = 't1'",
                "SELECT * FROM audit.who_could_mint('t1', 'deploy', now())"
            })
    void a_question_costs_the_same_beside_other_tenants(String sql) throws SQLException {
        assertEquals(calls(one, sql), calls(many, sql));
    }

    /** How often each function is called by a statement, which is rolled back. */
    private static Map<String, Long> calls(TestDatabase database, String sql) throws SQLException {
        return calls(database, Who.ADMIN, sql);
    }

    private static Map<String, Long> calls(TestDatabase database, Who who, String sql)
            throws SQLException {
        return database.rolledBack(
                who,
                session -> {
                    try (Statement statement = session.createStatement()) {
                        Map<String, Long> before = calls(statement);
                        statement.execute(sql);
                        Map<String, Long> calls = calls(statement);
                        before.forEach((function, n) -> calls.merge(function, -n, Long::sum));
                        calls.values().removeIf(n -> n == 0);
                        return calls;
                    }
                });
    }

    /**
     * Of the session, since PostgreSQL last collected its numbers, which it does between
     * transactions.
     */
    private static Map<String, Long> calls(Statement statement) throws SQLException {
        Map<String, Long> calls = new TreeMap<>();
        try (ResultSet rows =
                statement.executeQuery("SELECT funcname, calls FROM pg_stat_xact_user_functions")) {
            while (rows.next()) {
                calls.merge(rows.getString(1), rows.getLong(2), Long::sum);
            }
        }
        return calls;
    }
}
