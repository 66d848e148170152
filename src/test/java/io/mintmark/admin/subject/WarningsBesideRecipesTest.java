package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Documented;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What is written as the recipes have it gives no warning; likely mistakes beside them do. */
@Tag("every-postgres")
class WarningsBesideRecipesTest {
    private static final String WARNING = "01000";

    private static final List<String> WARNED = new ArrayList<>();
    private static TestDatabase database;

    @BeforeAll
    static void set_up() throws IOException, SQLException {
        database = TestDatabase.migrated();
        try (Connection session = database.connect(Who.ADMIN);
                Statement statement = session.createStatement()) {
            for (String recipe : RecipesTest.SETTING_UP) {
                warnings(statement, RecipesTest.sql(recipe), WARNED);
            }
        }
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void no_recipe_gives_a_warning() {
        // the login of the tenant's admin is made by a DBA
        assertEquals(
                List.of(),
                WARNED.stream().filter(one -> !one.endsWith("[unknown_login]")).toList());
    }

    @Test
    void the_recipe_of_a_block_gives_no_warning_either() throws IOException, SQLException {
        String recipe = RecipesTest.sql("block_subject");
        assertEquals(
                List.of(),
                database.rolledBack(
                        Who.ADMIN,
                        session -> {
                            List<String> warned = new ArrayList<>();
                            try (Statement statement = session.createStatement()) {
                                warnings(statement, recipe, warned);
                            }
                            return warned;
                        }));
    }

    @Test
    void the_tutorial_gives_no_warning() throws SQLException {
        assertEquals(List.of(), warnedIn(Documented.blocks("tutorial.md", "sql")));
    }

    @Test
    void the_demo_gives_no_warning() throws IOException, SQLException {
        String demo =
                Files.readString(Path.of("src", "test", "resources", "demo-tenant.sql"))
                        .replace("ISSUER", "http://localhost:8093")
                        .replace("STORAGE", "http://localhost:8094");
        assertEquals(
                List.of(),
                warnedIn(List.of(demo)).stream()
                        .filter(one -> !one.endsWith("[unknown_login]"))
                        .toList());
    }

    private static List<String> warnedIn(List<String> blocks) throws SQLException {
        List<String> warned = new ArrayList<>();
        try (TestDatabase alone = TestDatabase.migrated();
                Connection session = alone.connect(Who.ADMIN);
                Statement statement = session.createStatement()) {
            for (String block : blocks) {
                warnings(statement, block, warned);
            }
        }
        return warned;
    }

    @Test
    void a_thousand_right_rows_give_no_warning() throws SQLException {
        assertEquals(
                List.of(),
                database.rolledBack(
                        Who.ADMIN,
                        session -> {
                            List<String> warned = new ArrayList<>();
                            try (Statement statement = session.createStatement()) {
                                warnings(
                                        statement,
                                        """
                                        INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
                                        SELECT 'acme', w.idp, w.subject, w.match, 'read', w.claims, 'OPS-' || n
                                          FROM generate_series(1, 200) AS n CROSS JOIN LATERAL (VALUES
                                               ('acme-github', format('repo:acme@1234567/service-%s@%s:ref:refs/heads/main', n, 5000 + n), 'exact', '{"event_name": "push"}'::jsonb),
                                               ('acme-github', 'repo:**', 'glob', jsonb_build_object('repository_id', (9000 + n)::text, 'environment', 'production')),
                                               ('acme-gitlab', format('project_path:acme/service-%s:ref_type:branch:ref:main', n), 'exact', '{"ref_protected": "true"}'),
                                               ('acme-cluster', format('system:serviceaccount:team-%s:deployer', n), 'exact', '{}'),
                                               ('acme-keycloak', format('1f1c9f4e-0d5b-4d0e-9d57-%s', lpad(n::text, 12, '0')), 'exact', '{"/realm_access/roles": "ops"}'))
                                               AS w (idp, subject, match, claims)
                                        """,
                                        warned);
                            }
                            return warned;
                        }));
    }

    @Test
    void mistakes_of_each_kind_are_refused_or_warned_of() throws IOException {
        assertAll(
                SqlCase.in("mistakes", "kinds").stream()
                        .map(one -> () -> one.checkTold(database, Who.ADMIN)));
    }

    @Test
    void what_looks_like_a_mistake_and_is_right_gives_no_warning() throws IOException {
        assertAll(
                SqlCase.in("mistakes", "right").stream()
                        .map(one -> () -> one.checkTold(database, Who.ADMIN)));
    }

    @Test
    void of_sixty_mistakes_that_nobody_had_in_mind_three_are_silent() throws IOException {
        List<SqlCase> sixty = SqlCase.in("mistakes", "sixty");
        assertEquals(60, sixty.size());
        assertEquals(
                3, sixty.stream().filter(one -> one.message().equals("nothing")).count(), "silent");
        assertAll(sixty.stream().map(one -> () -> one.checkTold(database, Who.ADMIN)));
    }

    private static void warnings(Statement statement, String sql, List<String> warned)
            throws SQLException {
        statement.execute(sql);
        for (SQLWarning one = statement.getWarnings(); one != null; one = one.getNextWarning()) {
            if (WARNING.equals(one.getSQLState())) {
                warned.add(String.valueOf(one.getMessage()));
            }
        }
    }
}
