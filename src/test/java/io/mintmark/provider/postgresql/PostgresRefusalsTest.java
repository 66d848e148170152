package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.postgresql.Target.Login;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/** What servers refuse, and what the broker refuses of them. */
class PostgresRefusalsTest {
    private static final TargetServer SERVER = TargetServer.shared(TargetServer.NEWEST);

    @TempDir Path secrets;
    private Target target;

    @BeforeEach
    void connect() {
        target = new Target(SERVER.port(), secrets);
    }

    @AfterEach
    void clean() {
        SERVER.clean();
    }

    private void assertFails(Reason reason, String detail, String keySettings) {
        assertFails(reason, detail, target.key(keySettings));
    }

    private void assertFails(Reason reason, String detail, Orders order) {
        Failed failed = Target.failed(order.mint(target.type()));
        assertTrue(failed.detail().contains(detail), failed.detail());
        assertEquals(reason, failed.reason(), failed.detail());
        SERVER.assertRows("SELECT rolname FROM pg_roles WHERE rolname ~ '^mm_'");
    }

    private Orders at(String database, String login, String password) {
        Target.write(secrets.resolve("acme").resolve("other"), password);
        return Orders.of(
                "postgresql",
                "{'host': '127.0.0.1:%d', 'database': '%s', 'login': '%s', 'password': {'file': 'other'}}"
                        .formatted(SERVER.port(), database, login),
                "{'role': 'app_rw'}");
    }

    @Test
    void a_wrong_password_is_the_brokers_identity() {
        assertFails(
                Reason.BROKER_IDENTITY_REJECTED,
                "SQLSTATE 28P01",
                at("postgres", "mintmark", "wrong"));
    }

    @Test
    void an_unknown_database_is_a_setting() {
        assertFails(
                Reason.PROVIDER_MISCONFIGURED,
                "SQLSTATE 3D000",
                at("nowhere", "mintmark", TargetServer.BROKER_PASSWORD));
    }

    @Test
    void an_unknown_role_is_a_setting() {
        assertFails(
                Reason.PROVIDER_MISCONFIGURED,
                "role 'nobody' does not exist",
                "{'role': 'nobody'}");
    }

    @Test
    void a_role_that_the_broker_may_not_give_is_rejected_with_the_lacking_option() {
        SERVER.run("CREATE ROLE not_ours");
        try {
            assertFails(Reason.PROVIDER_REJECTED, "ADMIN option", "{'role': 'not_ours'}");
        } finally {
            SERVER.run("DROP ROLE not_ours");
        }
    }

    @Test
    void a_parameter_with_a_bad_value_is_a_setting() {
        assertFails(
                Reason.PROVIDER_MISCONFIGURED,
                "SQLSTATE 22023",
                "{'role': 'app_rw', 'parameters': {'statement_timeout': 'soon'}}");
    }

    @Test
    void a_server_without_places_is_throttled() {
        SERVER.run("ALTER ROLE mintmark CONNECTION LIMIT 0");
        try {
            assertFails(Reason.PROVIDER_THROTTLED, "SQLSTATE 53300", "{'role': 'app_rw'}");
        } finally {
            SERVER.run("ALTER ROLE mintmark CONNECTION LIMIT -1");
        }
    }

    @Test
    void a_mint_id_that_was_used_is_an_error() {
        target.login();
        MintingBroker.assertFailed(
                Reason.PROVIDER_ERROR, "SQLSTATE 42710", target.mint("{'role': 'app_rw'}"));
    }

    @Test
    void a_role_that_may_grant_others_is_refused_also_by_membership() {
        SERVER.run(
                "CREATE ROLE prize; CREATE ROLE granter; GRANT prize TO granter WITH ADMIN TRUE;"
                        + " CREATE ROLE below; GRANT granter TO below; GRANT below TO mintmark WITH"
                        + " ADMIN TRUE, INHERIT FALSE, SET FALSE");
        try {
            assertFails(Reason.PROVIDER_MISCONFIGURED, "has the ADMIN OPTION", "{'role': 'below'}");
        } finally {
            SERVER.run("DROP ROLE below, granter, prize");
        }
    }

    @Test
    void a_superuser_is_refused_whoever_the_broker_is() {
        SERVER.run("CREATE ROLE chief SUPERUSER; ALTER ROLE mintmark SUPERUSER");
        try {
            assertFails(Reason.PROVIDER_MISCONFIGURED, "is a superuser", "{'role': 'chief'}");
        } finally {
            SERVER.run("ALTER ROLE mintmark NOSUPERUSER; DROP ROLE chief");
        }
    }

    /** It could change the role's password, or make other logins. */
    @Test
    void an_owner_that_can_be_made_a_lasting_login_is_refused() {
        for (String attribute : List.of("CREATEROLE", "LOGIN")) {
            SERVER.run("ALTER ROLE app_owner " + attribute);
            try {
                assertFails(
                        Reason.PROVIDER_MISCONFIGURED,
                        "has LOGIN or CREATEROLE",
                        "{'role': 'app_owner', 'as': 'owner'}");
            } finally {
                SERVER.run("ALTER ROLE app_owner NO" + attribute);
            }
        }
    }

    @Test
    void roles_of_the_server_must_be_allowed_literally() {
        SERVER.run("GRANT pg_read_all_data TO mintmark WITH ADMIN TRUE, INHERIT FALSE, SET FALSE");
        try {
            var providers = new AccessProviders(List.of(target.type()), InstantSource.system());
            Orders order = target.key("{'role': 'pg_read_all_data'}");

            MintingBroker.assertFailed(
                    Reason.PROVIDER_MISCONFIGURED,
                    "must be in allowed_targets as it is",
                    order.allowing("**", "pg_*").mint(providers));
            assertInstanceOf(Minted.class, order.allowing("pg_read_all_data").mint(providers));
        } finally {
            SERVER.run("REVOKE pg_read_all_data FROM mintmark CASCADE");
        }
    }

    @Test
    void an_older_server_is_refused() {
        try (TargetServer older = TargetServer.start(15, Map.of(), TargetServer.HBA)) {
            Failed failed =
                    MintingBroker.assertFailed(
                            Reason.PROVIDER_MISCONFIGURED,
                            "",
                            new Target(older.port(), secrets).mint("{'role': 'app_rw'}"));
            assertTrue(
                    failed.detail()
                            .startsWith(
                                    "requires PostgreSQL 16 or newer; the server is PostgreSQL 15"),
                    failed.detail());
        }
    }

    /** It ends by the server's clock; the client is told by the broker's. */
    @Test
    void a_broker_whose_clock_is_slow_gives_the_same_time() {
        InstantSource slow = InstantSource.offset(InstantSource.system(), Duration.ofMinutes(-20));
        Login login = new Target(SERVER.port(), secrets, slow).login();

        SERVER.assertRows(
                "SELECT rolvaliduntil - clock_timestamp() BETWEEN '55 min' AND '60 min 1 s' FROM pg_roles WHERE rolname = '%s'"
                        .formatted(login.name()),
                "t");
        Duration left = Duration.between(slow.instant(), login.minted().expiresAt());
        assertTrue(left.toSeconds() >= 3300 && left.toSeconds() <= 3600, left::toString);
    }

    /** Each setting is a text in a statement, whatever it looks like. */
    @Test
    void names_and_texts_are_quoted() throws Exception {
        String odd = "odd\"; DROP ROLE app_rw; --'\\";
        SERVER.run(
                "CREATE ROLE %1$s; GRANT %1$s TO mintmark WITH ADMIN TRUE, INHERIT FALSE, SET FALSE"
                        .formatted(Sql.name(odd)));
        try {
            Orders order = target.key("{}");
            var key =
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("role", odd)
                            .put("leftovers", "give")
                            .set(
                                    "parameters",
                                    JsonNodeFactory.instance
                                            .objectNode()
                                            .put(
                                                    "application_name",
                                                    "x'; DROP ROLE app_rw; --\\' "));
            Login login =
                    target.login(new Orders(order.access(), key, order.timeout(), order.ordered()));
            login.run("CREATE TEMPORARY TABLE t (id int)");

            assertInstanceOf(Gone.class, target.end());
            SERVER.assertRows("SELECT count(*) FROM pg_roles WHERE rolname = 'app_rw'", "1");
        } finally {
            SERVER.run("DROP ROLE " + Sql.name(odd));
        }
    }
}
