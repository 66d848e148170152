package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What an edit records, and what it answers, doesn't depend on the settings of its session. */
class SessionSettingsTest {
    private static final String HOSTILE =
            """
            SET quote_all_identifiers = on;
            SET DateStyle = 'SQL, DMY';
            SET IntervalStyle = 'sql_standard';
            SET TimeZone = 'Asia/Kathmandu';
            SET extra_float_digits = -15;
            SET bytea_output = 'escape';
            SET standard_conforming_strings = off;
            SET array_nulls = off;
            SET transform_null_equals = on;
            SET search_path = pg_temp;
            """;

    /** The driver closes a session that it finds with another style. */
    private static final String FOR_THE_DRIVER = "; SET DateStyle = 'ISO, MDY'";

    private static final List<String> BY_AN_ADMIN =
            List.of(
                    "INSERT INTO broker.tenant (name, display_name) VALUES ('TENANT', 'of TENANT')",
                    "UPDATE broker.tenant SET max_keys = 70, require_owner = true WHERE name = 'TENANT'",
                    "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('TENANT', 'test_tenant_admin')",
                    """
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
                    VALUES ('TENANT-sso', 'TENANT', 'https://TENANT.example.com', '{TENANT,TENANT-b}', '{"n": [1.50, 2e3, true, "x"]}')
                    """,
                    "UPDATE broker.identity_provider SET audiences = '{TENANT}', clock_skew = 5 WHERE name = 'TENANT-sso'",
                    "INSERT INTO broker.access_provider (tenant, name, type) VALUES ('TENANT', 'own', 'jwt')",
                    "UPDATE broker.access_provider SET allowed_targets = '{https://**}' WHERE tenant = 'TENANT'",
                    "INSERT INTO broker.console_access (tenant, claim, value) VALUES ('TENANT', 'groups', '\"TENANT\"')",
                    """
                    INSERT INTO broker.blocked_subject (tenant, subject, reason, until)
                    VALUES ('TENANT', 'dev:mal', 'INC-1', '2031-02-03 04:05:06.789+00')
                    """);

    private static final List<String> BY_A_TENANT_ADMIN =
            List.of(
                    """
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
                    VALUES ('TENANT', 'deploy', 'own', 600, '{"audience": "https://api.example.com", "claims": {"scope": "read"}}', 'team')
                    """,
                    "UPDATE broker.key SET max_duration = 700 WHERE tenant = 'TENANT'",
                    """
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, networks, valid_from, valid_until, owner)
                    VALUES ('TENANT', 'TENANT-sso', 'ci', 'deploy', '{"f": 0.30000000000000004, "n": 1e2}', '{10.0.0.0/8,2001:db8::/32}',
                            '2026-02-03 04:05:06.789+00', '2031-02-03 04:05:06.789012+00', 'team')
                    """,
                    "UPDATE broker.subject_grant SET valid_until = valid_until + interval '1.5 days' WHERE tenant = 'TENANT'",
                    """
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, owner)
                    VALUES ('TENANT', 'deploy', 'TENANT-sso', 'dev:**', 'glob', 3600, 'team')
                    """,
                    "UPDATE broker.access_rule SET max_access = 7200 WHERE tenant = 'TENANT'",
                    """
                    INSERT INTO broker.access_approver (rule, idp, subject, match)
                    SELECT id, 'TENANT-sso', 'lead:**', 'glob' FROM broker.access_rule WHERE tenant = 'TENANT'
                    """,
                    "UPDATE broker.access_approver SET program = true WHERE tenant = 'TENANT'",
                    "INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'keep' FROM broker.subject_grant WHERE tenant = 'TENANT'",
                    "UPDATE broker.tenant SET require_second_admin = true WHERE name = 'TENANT'",
                    "UPDATE broker.subject_grant SET max_duration = 300 WHERE tenant = 'TENANT'",
                    "UPDATE broker.blocked_subject SET until = until - interval '1 day' WHERE tenant = 'TENANT'",
                    "DELETE FROM broker.access_approver WHERE tenant = 'TENANT'");

    private static final List<String> APPROVED_BY_AN_ADMIN =
            List.of(
                    """
                    SELECT broker.approve('subject_grant', g.id, internal.row_revision('subject_grant', 'TENANT', g.id::text))
                      FROM broker.subject_grant AS g WHERE g.tenant = 'TENANT'
                    """,
                    """
                    SELECT broker.approve('blocked_subject', b.id, internal.row_revision('blocked_subject', 'TENANT', b.id::text))
                      FROM broker.blocked_subject AS b WHERE b.tenant = 'TENANT'
                    """);

    private static final List<String> REFUSED =
            List.of(
                    "INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner) VALUES ('TENANT', NULL, 'own', 600, '{}', 'x')",
                    "INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner) VALUES ('TENANT', 'k', 'none', 600, '{}', 'x')",
                    "INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('TENANT', 'k', 'own', 600, '{\"audience\": \"x\"}')",
                    "UPDATE broker.key SET name = 'other' WHERE tenant = 'TENANT'",
                    "DELETE FROM broker.key WHERE tenant = 'TENANT'",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner) VALUES ('TENANT', 'TENANT-sso', 'ci', 'none', 'x')",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner) VALUES ('TENANT', 'none', 'ci', 'deploy', 'x')",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, owner) VALUES ('TENANT', 'TENANT-sso', 'ci', 'deploy', NULL, 'x')",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, owner) VALUES ('TENANT', 'TENANT-sso', 'ci', 'deploy', '[1.50]', 'x')",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner, reason) VALUES ('TENANT', 'TENANT-sso', 'c', 'deploy', 'x', 'ghp_0123456789abcdefghijABCDEFGHIJ012345')",
                    "UPDATE broker.subject_grant SET tenant = 'TENANT' WHERE tenant = 'TENANT'",
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (NULL, 'x', 'INC-1')",
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('TENANT', 'x', 'INC-1', 'infinity')",
                    "DELETE FROM broker.blocked_subject WHERE tenant = 'TENANT'",
                    "INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access, owner) VALUES ('TENANT', 'deploy', 'TENANT-sso', 'x', 9, 600, 'x')",
                    "INSERT INTO broker.access_approver (rule) SELECT id FROM broker.access_rule WHERE tenant = 'TENANT'",
                    "UPDATE broker.tenant SET require_second_admin = false WHERE name = 'TENANT'",
                    "INSERT INTO broker.access_decision (request, verdict) VALUES ('00000000-0000-4000-8000-000000000000', 'approve')",
                    "TRUNCATE broker.subject_grant",
                    "SELECT broker.approve('subject_grant', g.id, 1) FROM broker.subject_grant AS g WHERE g.tenant = 'TENANT'");

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    @Test
    void an_edit_records_and_answers_the_same_under_all_settings() throws Exception {
        List<String> usual = edit("plain", "", "");
        List<String> hostile = edit("unusual", HOSTILE, FOR_THE_DRIVER);
        assertEquals(String.join("\n", usual), String.join("\n", hostile));
        assertEquals(String.join("\n", history("plain")), String.join("\n", history("unusual")));
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
    }

    private List<String> edit(String tenant, String before, String after) throws SQLException {
        List<String> answers = new ArrayList<>();
        try (Connection admin = database.connect(Who.ADMIN);
                Connection member = database.connect(Who.TENANT_ADMIN)) {
            for (String sql : BY_AN_ADMIN) {
                answers.add(answer(admin, tenant, before, sql, after));
            }
            for (String sql : BY_A_TENANT_ADMIN) {
                answers.add(answer(member, tenant, before, sql, after));
            }
            for (String sql : APPROVED_BY_AN_ADMIN) {
                answers.add(answer(admin, tenant, before, sql, after));
            }
            assertEquals(
                    List.of(),
                    answers.stream().filter(answer -> answer.contains("REFUSED")).toList());
            for (String sql : REFUSED) {
                String answer = answer(member, tenant, before, sql, after);
                assertEquals(true, answer.contains("REFUSED"), answer);
                answers.add(answer);
            }
        }
        return answers;
    }

    /** The warnings of a statement, or its error. */
    private static String answer(
            Connection session, String tenant, String before, String sql, String after)
            throws SQLException {
        StringBuilder answer = new StringBuilder(sql.strip());
        try (Statement statement = session.createStatement()) {
            statement.execute(before + sql.replace("TENANT", tenant) + after);
            for (SQLWarning warning = statement.getWarnings();
                    warning != null;
                    warning = warning.getNextWarning()) {
                answer.append("\n  ").append(warning.getMessage());
            }
        } catch (PSQLException e) {
            ServerErrorMessage error = e.getServerErrorMessage();
            answer.append("\n  REFUSED ").append(error == null ? e.getMessage() : said(error));
        }
        return anonymous(answer.toString(), tenant);
    }

    private static String said(ServerErrorMessage error) {
        return String.join(
                "\n  ",
                String.valueOf(error.getMessage()),
                String.valueOf(error.getDetail()),
                String.valueOf(error.getHint()),
                String.valueOf(error.getConstraint()),
                error.getSchema() + "." + error.getTable() + "." + error.getColumn());
    }

    /** Without the tenant, and ids and revisions, which differ. */
    private static String anonymous(String text, String tenant) {
        return text.replace(tenant, "TENANT")
                .replaceAll("approve\\('([a-z_]+)', [0-9]+", "approve('$1', N")
                .replaceAll("\\b(grant|Grant|block|Block|rule|id =|ids?|revision) [0-9]+", "$1 N");
    }

    private List<String> history(String tenant) {
        return database
                .column(
                        """
                        SELECT concat_ws(' ', c.table_name, c.operation, c.changed_by, r.before, r.after)
                          FROM audit.config_change AS c
                         CROSS JOIN LATERAL (SELECT (c.before - kept.out)::text AS before, (c.after - kept.out)::text AS after
                                               FROM (SELECT '{id,rule,grant_id,external_id,created_at,updated_at,approved_at}'::text[] AS out) AS kept) AS r
                         WHERE c.tenant = '%s' ORDER BY c.revision
                        """
                                .formatted(tenant))
                .stream()
                .map(row -> anonymous(row, tenant))
                .toList();
    }
}
