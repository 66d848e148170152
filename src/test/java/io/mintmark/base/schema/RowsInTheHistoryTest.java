package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The views that the service reads while a lock keeps it from the tables of the configuration. */
@Tag("every-postgres")
class RowsInTheHistoryTest {
    /** Renamed, deleted, written again under a former name, changed twice, and everything null. */
    private static final String EDITS =
            """
            INSERT INTO broker.identity_provider
                   (name, tenant, issuer, audiences, algorithms, required_claims, max_token_age, accepts, token_types)
            VALUES ('rich', 'acme', 'https://rich.example.com', '{one,"two, three"}', '{ES256,PS512}',
                    '{"ref": {"glob": "refs/**"}}', 300, '{subject,actor}', '{"JWT","a+b"}');
            UPDATE broker.identity_provider SET name = 'richer' WHERE name = 'rich';
            UPDATE broker.access_provider SET name = 'away' WHERE name = 'secret';
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('other', 'secret', 'jwt');
            UPDATE broker.access_provider SET allowed_targets = '{a,"b c"}' WHERE name = 'secret';
            DELETE FROM broker.access_provider WHERE name = 'away';
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource, owner)
            VALUES ('acme', 'first', 'own', 60, '{"audience": "https://api.example.com/1"}', 'https://a.example', 'x'),
                   ('acme', 'second', 'own', 70, '{"audience": "https://api.example.com/2"}', NULL, NULL);
            DELETE FROM broker.key WHERE name = 'second';
            UPDATE broker.key SET name = 'second' WHERE name = 'first';
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('acme', 'first', 'own', 80, '{"audience": "https://api.example.com/3"}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, networks, valid_from)
            VALUES ('acme', 'richer', 'repo:"é" \\ *:**', 'glob', 'api', '{"a": [1, true]}',
                    '{10.0.0.0/8,2001:db8::/32}', '2026-01-01 00:00:00.123456+02'),
                   ('acme', 'ci', 'gone', 'exact', 'api', '{}', NULL, NULL);
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, actor_claims)
            VALUES ('acme', 'ci', 'asks', 'api', 'richer', 'agent', '{"b": "c"}');
            UPDATE broker.subject_grant SET enabled = false WHERE subject = 'main';
            UPDATE broker.subject_grant SET max_duration = 60 WHERE subject = 'main';
            DELETE FROM broker.subject_grant WHERE subject = 'gone';
            INSERT INTO broker.blocked_subject (tenant, subject, match, claims, until, reason)
            VALUES ('acme', '**', 'glob', '{"jti": "1"}', '2100-01-01', 'x');
            DELETE FROM broker.blocked_subject WHERE subject = 'own';
            UPDATE broker.blocked_subject SET enabled = false WHERE tenant IS NULL;
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
            VALUES ('acme', 'api', 'ci', 'ci:**', 'glob', 1, 3600), ('acme', 'api', 'ci', 'ci:gone', 'exact', 1, 3600);
            DELETE FROM broker.access_rule WHERE subject = 'ci:gone';
            UPDATE broker.tenant SET max_duration = 5000 WHERE name = 'acme';
            """;

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("roles", "setup"));
        Pattern.compile(";\n").splitAsStream(EDITS).forEach(database::admin);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tenant",
                "identity_provider",
                "access_provider",
                "key",
                "subject_grant",
                "blocked_subject",
                "access_rule",
                "provider_type"
            })
    void a_view_has_exactly_the_rows_of_its_table(String table) {
        String rows =
                "SELECT to_jsonb(t)::text FROM %s.%s AS t ORDER BY to_jsonb(t)::text COLLATE \"C\"";
        List<String> expected = database.column(Who.APP, rows.formatted("broker", table));
        assertFalse(expected.isEmpty());
        assertEquals(expected, database.column(Who.APP, rows.formatted("log", table)));
        assertEquals(
                columns("broker." + table),
                columns("log." + table),
                "names and types, for what the service asks of them");
    }

    private static List<String> columns(String relation) {
        return database.column(
                Who.OWNER,
                "SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname"
                        .formatted(relation));
    }

    @Test
    void a_column_of_a_later_migration_has_its_default_in_rows_from_before() {
        try (TestDatabase later = TestDatabase.migrated()) {
            later.run(
                    Who.OWNER,
                    """
                    SET ROLE mintmark_owner;
                    ALTER TABLE broker.provider_type ADD COLUMN added boolean NOT NULL DEFAULT true;
                    """
                            + view("R__02_rows_in_the_history.sql"));
            assertEquals(
                    List.of("t"),
                    later.column(Who.OWNER, "SELECT DISTINCT added FROM log.provider_type"));
        }
    }

    private static String view(String file) {
        try {
            return Files.readString(Path.of("db", "migration", file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
