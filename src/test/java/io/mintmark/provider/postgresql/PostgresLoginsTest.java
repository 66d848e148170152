package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlRunner;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.Orders;
import io.mintmark.provider.postgresql.Target.Login;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A login's whole life at each supported version of PostgreSQL. */
class PostgresLoginsTest {
    private TargetServer server = TargetServer.shared(18);
    @TempDir Path secrets;

    @AfterEach
    void clean() {
        server.clean();
    }

    private Target target(int version) {
        server = TargetServer.shared(version);
        return new Target(server.port(), secrets);
    }

    private static String refusal(Login login, String sql) {
        return assertThrows(SQLException.class, () -> login.run(sql)).getSQLState();
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 18})
    void a_login_has_what_its_role_has_and_no_more(int version) throws Exception {
        Target target = target(version);
        Login login = target.login();

        assertEquals(
                "mm_%s_01980f5e8a0070008000".formatted(login.name().substring(3, 11))
                        + "0123456789ab",
                login.name());
        assertEquals(login.name(), login.minted().credentialId());
        try (Connection session = login.connect()) {
            assertEquals(List.of("42"), SqlRunner.column(session, "SELECT id FROM public.orders"));
        }
        assertEquals("42501", refusal(login, "SET ROLE app_rw"));
        assertEquals("42501", refusal(login, "CREATE ROLE more LOGIN"));
        assertEquals(
                "42501",
                refusal(login, "ALTER ROLE %s VALID UNTIL 'infinity'".formatted(login.name())));
        assertEquals(
                "42501",
                refusal(login, "ALTER ROLE %s CONNECTION LIMIT 99".formatted(login.name())));
        assertEquals("42501", refusal(login, "GRANT app_rw TO mintmark"));
        assertEquals("42501", refusal(login, "GRANT %s TO mintmark".formatted(login.name())));
        assertEquals("42501", refusal(login, "SET ROLE mintmark"));
        server.assertRows(
                "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = '%s'"
                        .formatted(login.name()),
                "mintmark 01980f5e-8a00-7000-8000-0123456789ab acme/deploy");

        assertEquals(new Gone("role %s was dropped".formatted(login.name())), target.end());
        assertEquals(new Gone("the server has no role for this mint"), target.end());
        assertEquals("28P01", refusal(login, "SELECT 1"));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 18})
    void ending_ends_open_sessions(int version) throws Exception {
        Target target = target(version);
        Login login = target.login();
        try (Connection session = login.connect()) {
            assertInstanceOf(Gone.class, target.end());

            SQLException ended =
                    assertThrows(SQLException.class, () -> SqlRunner.column(session, "SELECT 1"));
            assertTrue(List.of("57P01", "08006").contains(ended.getSQLState()), ended::getMessage);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 18})
    void no_password_is_in_the_servers_log(int version) throws Exception {
        Target target = target(version);
        Login login = target.login();
        try (Connection session = login.connect()) {
            SqlRunner.column(session, "SELECT 1");
        }
        target.end();

        String log = server.log();
        assertTrue(log.contains("CREATE ROLE \"" + login.name()), log);
        assertTrue(log.contains("SCRAM-SHA-256$4096:"), log);
        assertFalse(log.contains(login.field("Password")), log);
        assertFalse(
                log.lines()
                        .filter(line -> !line.contains("CREATE ROLE mintmark"))
                        .anyMatch(line -> line.contains(TargetServer.BROKER_PASSWORD)));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 18})
    void an_owner_makes_objects_of_its_role(int version) throws Exception {
        Target target = target(version);
        Login login = target.login("{'role': 'app_owner', 'as': 'owner'}");

        login.run("CREATE TABLE app.t (id int)");

        server.assertRows("SELECT tableowner FROM pg_tables WHERE tablename = 't'", "app_owner");
        assertEquals(
                "inherit=false",
                server.value(
                        """
                        SELECT 'inherit=' || bool_or(inherit_option) FROM pg_auth_members
                         WHERE member = 'mintmark'::regrole AND roleid = '%s'::regrole
                        """
                                .formatted(login.name())),
                "the broker's rights of the login");
        assertInstanceOf(Gone.class, target.end());
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 18})
    void a_login_that_expired_is_refused_and_listed(int version) throws Exception {
        Target target = target(version);
        Login login = target.login(target.key("{'role': 'app_rw'}").lasting(Duration.ofSeconds(1)));
        server.column(
                "SELECT pg_sleep_until(rolvaliduntil) FROM pg_roles WHERE rolname = '%s'"
                        .formatted(login.name()));

        assertEquals("28P01", refusal(login, "SELECT 1"));
        assertEquals(List.of(Orders.MINT_ID), target.leftBehind());
        assertInstanceOf(Gone.class, target.end());
        assertEquals(List.of(), target.leftBehind());
    }
}
