package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Optional;

/** With which login a console starts: one that can look, and nothing else. */
@Tag("every-postgres")
class ConsoleLoginCheckTest {
    @AutoClose private static final TestDatabase database = TestDatabase.migrated();
    private String login = "";

    @BeforeEach
    void make() {
        login = database.name() + "_viewer";
        database.runAsSuperuser(
                "CREATE ROLE %s LOGIN PASSWORD '%s' IN ROLE mintmark_console"
                        .formatted(login, TestDatabase.PASSWORD));
    }

    @AfterEach
    void drop() {
        database.runAsSuperuser("DROP OWNED BY %1$s; DROP ROLE %1$s".formatted(login));
    }

    private void check() {
        new ConsoleLoginCheck(
                        new DatabaseLogin(
                                database.url(), login, () -> Optional.of(TestDatabase.PASSWORD)),
                        TestDatabase.ROLES)
                .require();
    }

    @Test
    void a_member_of_the_consoles_role_alone_may() {
        assertDoesNotThrow(this::check);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    GRANT mintmark_auditor TO %s            | is a member of mintmark_auditor
                    GRANT mintmark_app TO %s                | is a member of mintmark_app
                    GRANT mintmark_owner TO %s              | is a member of mintmark_owner
                    ALTER ROLE %s SUPERUSER                 | is a superuser
                    ALTER ROLE %s BYPASSRLS                 | passes row-level security (BYPASSRLS)
                    ALTER ROLE %s CREATEROLE                | may make roles (CREATEROLE)
                    GRANT DELETE ON broker.key TO %s        | may write broker.key
                    GRANT SELECT ON work.used_token TO %s    | may read work.used_token past row-level security
                    GRANT pg_read_all_data TO %s            | past row-level security
                    GRANT pg_write_all_data TO %s           | may write
                    """)
    void a_login_that_could_do_more_may_not(String grant, String power) {
        database.runAsSuperuser(grant.formatted(login));

        DatabaseUnfit refused = assertThrows(DatabaseUnfit.class, this::check);

        assertTrue(String.valueOf(refused.getMessage()).contains(power), refused.getMessage());
    }

    @Test
    void a_login_that_would_show_nothing_may_not() {
        database.runAsSuperuser("REVOKE mintmark_console FROM " + login);

        DatabaseUnfit refused = assertThrows(DatabaseUnfit.class, this::check);

        assertTrue(
                String.valueOf(refused.getMessage())
                        .contains("is not a member of role 'mintmark_console'"),
                refused.getMessage());
    }

    @Test
    void the_login_of_the_tests_is_one_that_may() {
        assertDoesNotThrow(() ->
                new ConsoleLoginCheck(database.login(Who.CONSOLE), TestDatabase.ROLES).require());
    }
}
