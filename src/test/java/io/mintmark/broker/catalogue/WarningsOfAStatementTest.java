package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.StatementWarnings;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.sql.SQLException;
import java.util.List;

/** A statement shows ten warnings, whatever they are about, and then the number of all. */
class WarningsOfAStatementTest {
    private static final String ROWS =
            """
            INSERT INTO broker.blocked_subject (tenant, subject, reason) SELECT 'acme', 'x:' || n, 'INC-1' FROM generate_series(1, 12) AS n;
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) SELECT 'acme', 'deploy', 'sso', 'ops:' || n, 3600 FROM generate_series(1, 12) AS n;
            INSERT INTO broker.access_approver (rule, idp, subject, step) SELECT r.id, 'sso', a, s FROM broker.access_rule AS r, (VALUES ('lead:zoe', 1), ('lead:eva', 2)) AS v (a, s) WHERE r.subject LIKE 'ops:%';
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner, reason)
            SELECT 'acme', 'sso', 'kept:' || n, 'deploy', 'team', 'OPS-1' FROM generate_series(1, 12) AS n;
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT, ROWS);

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    approval, lint, misspelt | INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner) SELECT 'acme', 'sso', concat('dev:eve', n, ' '), 'deploy', CASE n WHEN 1 THEN 'taem' ELSE 'team' END FROM generate_series(1, 12) AS n | 37 | no_reason, white_space, awaits_approval, nearly_another_value
                    approval alone           | UPDATE broker.access_rule SET max_access = 7200 WHERE subject LIKE 'ops:%' | 12 | awaits_approval
                    blocks                   | UPDATE broker.blocked_subject SET enabled = false | 24 | awaits_approval, block_matches_nothing
                    rules of approvers       | DELETE FROM broker.access_approver AS a USING broker.access_rule AS r WHERE r.id = a.rule AND r.subject LIKE 'ops:%' | 24 | awaits_approval, too_few_approvers
                    own reviews              | INSERT INTO broker.grant_review (grant_id, verdict) SELECT g.id, 'keep' FROM broker.subject_grant AS g | 12 | reviewed_by_its_maker
                    """)
    void ten_are_shown_and_the_rest_is_counted(String what, String sql, int all, String rules)
            throws SQLException {
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        List<String> warnings = warnings(sql);
        assertEquals(11, warnings.size(), () -> String.join("\n", warnings));
        assertEquals("10 of %d warnings are shown.".formatted(all), warnings.getLast(), what);
        for (String rule : rules.split(", ", -1)) {
            assertTrue(
                    warnings.stream().anyMatch(warning -> warning.endsWith("[" + rule + "]")),
                    () -> rule + " is missing in " + String.join("\n", warnings));
        }
    }

    /** Up to ten warnings come without a line that counts them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    UPDATE broker.access_rule SET max_access = 7200 WHERE subject = 'ops:1'           | 1
                    DELETE FROM broker.access_approver WHERE rule = (SELECT id FROM broker.access_rule WHERE subject = 'ops:1') | 2
                    UPDATE broker.blocked_subject SET enabled = false WHERE subject = 'x:1'            | 2
                    """)
    void few_are_all_shown(String sql, int all) throws SQLException {
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        assertEquals(all, warnings(sql).size());
    }

    private List<String> warnings(String sql) throws SQLException {
        return StatementWarnings.of(database, Who.ADMIN, sql);
    }
}
