package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.io.IOException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which row of a statement was refused: each row that the files of refusals insert, as the second
 * of three of which the others are right.
 */
@Tag("every-postgres")
class BulkRefusalsTest {
    private static final List<String> FILES =
            List.of(
                    "tenants",
                    "identity_providers",
                    "access_providers",
                    "keys",
                    "grants",
                    "console_access",
                    "blocked_subjects");

    /**
     * Without row security, PostgreSQL itself would name these rows; an id that is given names its
     * row.
     */
    private static final String IN_ITS_OWN_WORDS =
            "(duplicate key value|permission denied|null value|invalid input|malformed|The statement sets the id).*";

    /** By table, what tells a row from others to a reader. */
    private static final Map<String, List<String>> NAMES =
            Map.of(
                    "tenant", List.of("name"),
                    "tenant_admin", List.of("role_name"),
                    "shared_issuer", List.of("issuer"),
                    "identity_provider", List.of("name"),
                    "access_provider", List.of("name"),
                    "key", List.of("name"),
                    "subject_grant", List.of("subject", "key"),
                    "blocked_subject", List.of("subject"),
                    "console_access", List.of("claim"));

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '%s')"
                        .formatted(Who.TENANT_ADMIN.login()));
    }

    @TestFactory
    Stream<DynamicTest> the_row_that_is_wrong_is_named_and_no_other() throws IOException {
        List<SqlCase> cases = cases();
        Set<String> tables =
                cases.stream()
                        .map(one -> InsertedRow.of(one.sql()).orElseThrow().table())
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(NAMES.keySet()), tables);
        assertTrue(cases.size() > 80, () -> cases.size() + " cases");
        return cases.stream().map(one -> dynamicTest(one.name(), () -> check(one)));
    }

    private static List<SqlCase> cases() throws IOException {
        List<SqlCase> cases = new ArrayList<>();
        for (String file : FILES) {
            SqlCase.in("refusals", file).stream()
                    .filter(one -> one.message().contains(" "))
                    .filter(one -> !one.message().matches(IN_ITS_OWN_WORDS))
                    .filter(one -> InsertedRow.of(one.sql()).isPresent())
                    .forEach(cases::add);
        }
        return cases;
    }

    private static void check(SqlCase one) {
        InsertedRow row = InsertedRow.of(one.sql()).orElseThrow();
        ServerErrorMessage words = refused(Who.ADMIN, row.amongOthers());
        assertEquals(one.message(), words.getMessage());
        assertTold(words);
        NAMES.getOrDefault(row.table(), List.of())
                .forEach(column -> assertNames(words, row.value(column)));
    }

    /** In the sentence, or in the row that is shown beside it. */
    private static void assertNames(ServerErrorMessage words, Optional<String> expression) {
        String value = expression.map(BulkRefusalsTest::evaluated).orElse("null");
        String detail = String.valueOf(words.getDetail());
        if (value.equals("null")) {
            assertTrue(detail.startsWith("The row: {"), detail);
            return;
        }
        String start = "\"" + value.lines().findFirst().orElse("").substring(0, shown(value));
        assertTrue(
                (words.getMessage() + detail).contains(start),
                () -> start + " in " + words.getMessage() + "\n" + detail);
    }

    private static int shown(String value) {
        return Math.min(40, value.lines().findFirst().orElse("").length());
    }

    private static String evaluated(String expression) {
        return database.column(Who.ADMIN, "SELECT (%s)::text".formatted(expression)).getFirst();
    }

    private static void assertTold(ServerErrorMessage words) {
        String said = words.getMessage() + words.getDetail();
        assertAll(
                () -> assertFalse(said.contains(InsertedRow.RIGHT), said),
                () -> assertNotEquals("", words.getDetail()),
                () -> assertNotEquals("", words.getHint()));
    }

    private static ServerErrorMessage refused(Who who, String sql) {
        return Unchecked.call(() ->
                database.rolledBack(
                        who,
                        session -> {
                            try (Statement statement = session.createStatement()) {
                                PSQLException refusal =
                                        assertThrows(
                                                PSQLException.class,
                                                () -> statement.execute(sql),
                                                sql);
                                return Objects.requireNonNull(refusal.getServerErrorMessage());
                            }
                        }));
    }

    @Test
    void a_tenant_admin_is_shown_which_row_is_not_hers() {
        for (String tenant : List.of("'other'", "NULL")) {
            ServerErrorMessage words =
                    refused(
                            Who.TENANT_ADMIN,
                            """
                            INSERT INTO broker.blocked_subject (tenant, subject, reason)
                            VALUES ('acme', 'right-1', 'x'), (%s, 'wrong', 'x'), ('acme', 'right-3', 'x')
                            """
                                    .formatted(tenant));
            assertTold(words);
            assertNames(words, Optional.of("'wrong'"));
        }
    }

    @Test
    void an_update_shows_the_row_that_it_would_leave() {
        ServerErrorMessage words =
                refused(Who.ADMIN, "UPDATE broker.subject_grant SET idp = 'cj' WHERE key = 'api'");
        assertNames(words, Optional.of("'repo:acme/app:main'"));
        assertNames(words, Optional.of("'cj'"));
    }

    @Test
    void a_row_is_shown_without_what_a_secret_could_have_been_written_into() {
        ServerErrorMessage words =
                refused(
                        Who.ADMIN,
                        """
                        INSERT INTO broker.access_provider (tenant, name, type, settings)
                        VALUES ('nobody', 'wrong', 'oauth2', '{"client_secret": "hunter2"}')
                        """);
        assertNames(words, Optional.of("'wrong'"));
        assertFalse(words.toString().contains("hunter2"), words.toString());
    }
}
