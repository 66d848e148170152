package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The shell client and a broker, and what the broker's refusals look like to its user. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientWithBrokerTest {
    @AutoClose private static final World world = new World(Map.of("PROVIDER_TIMEOUT", "PT10S"));
    private final Shell shell;

    ClientWithBrokerTest(Shell shell) {
        this.shell = shell;
    }

    private ClientProcess with(String token) {
        return ClientProcess.under(shell)
                .with("MINTMARK_URL", world.broker().url().toString())
                .with("MINTMARK_TOKEN", token);
    }

    private static void assertRefused(List<String> lines, Ended ended) {
        String expected =
                String.join("\n", lines.stream().map(line -> "mintmark-client: " + line).toList())
                        + "\n";
        assertEquals(expected, ended.err().replaceAll("request [0-9a-f-]{36}\\)", "request ID)"));
        assertEquals(1, ended.exit());
        assertEquals("", ended.out());
    }

    @Test
    void a_command_runs_with_the_credentials_of_several_keys() {
        Ended ended =
                with(world.token())
                        .run(
                                "exec",
                                "deploy",
                                "api",
                                "--",
                                "sh",
                                "-c",
                                "echo $AWS_ACCESS_KEY_ID $ACCESS_TOKEN");
        assertTrue(ended.out().matches("ASIA\\S+ eyJ\\S+\n"), ended.toString());
        world.assertRows(
                "SELECT DISTINCT user_agent FROM audit.event WHERE user_agent LIKE" + " 'mint%'",
                "mintmark-client");
    }

    @Test
    void keys_and_whoami_say_what_there_is() {
        assertEquals(
                "api\town\t600 s\tThe API\ndeploy\taws\t3600 s\tDeploys\n",
                with(world.token()).run("keys").out());
        String whoami = with(world.token()).run("whoami").out();
        assertTrue(
                whoami.startsWith("subject            ci:main\nidentity provider  ci\n"), whoami);
        assertTrue(whoami.contains("token from         MINTMARK_TOKEN, until 20"), whoami);
        assertTrue(whoami.endsWith("keys               api, deploy\n"), whoami);
    }

    @Test
    void somebody_without_keys_is_somebody_all_the_same() {
        Ended ended = with(world.issuer().sign("ci:stranger", World.AUDIENCE)).run("whoami");
        assertEquals(0, ended.exit(), ended.err());
        assertTrue(
                ended.out().startsWith("subject            ci:stranger\nidentity provider  ci\n"));
    }

    @Test
    void a_key_that_is_not_granted_is_told_with_those_that_are() {
        assertRefused(
                List.of(
                        "Subject 'ci:main' has no active grant for key 'spare'; ask an admin "
                                + "for one. (FORBIDDEN, request ID)",
                        "you may use: api, deploy"),
                with(world.token()).run("get", "spare"));
    }

    @Test
    void a_misspelt_key_is_told() {
        assertRefused(
                List.of(
                        "The tenant has no key 'deplyo'; GET /credentials/keys lists the keys"
                                + " that the token may use. (NOT_FOUND, request ID)",
                        "to list the keys that you may use, run: mintmark-client keys"),
                with(world.token()).run("get", "deplyo"));
    }

    @Test
    void a_token_for_somebody_else_is_told_with_what_is_expected() {
        assertRefused(
                List.of(
                        "The broker does not accept the token's audience; request a token with an "
                                + "expected audience from its issuer. (UNAUTHORIZED, request ID)",
                        "the audience of the token is other; the broker expects mintmark-acme"),
                with(world.issuer().sign(World.SUBJECT, "other")).run("keys"));
    }

    @Test
    void an_expired_token_is_told_with_where_it_came_from() {
        Instant end = Instant.parse("2026-01-01T00:00:00Z");
        String old =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub", World.SUBJECT,
                                        "aud", World.AUDIENCE,
                                        "exp", end.getEpochSecond()));
        assertRefused(
                List.of(
                        "The token expired at 2026-01-01T00:00:00Z; get a new one. (UNAUTHORIZED,"
                                + " request ID)",
                        "set MINTMARK_TOKEN to a new token"),
                with(old).run("get", "api"));
    }

    /** A credential that nobody gets would live on for its whole duration. */
    @Test
    void a_key_with_other_outputs_is_not_minted_unless_the_user_names_them() {
        world.admin(
                "UPDATE broker.key SET outputs = '{\"ORDERS_TOKEN\": \"AccessToken\"}' WHERE name ="
                        + " 'api'");
        String mints = "SELECT count(*) FROM audit.event WHERE kind = 'issued'";
        String before = world.value(mints);
        try {
            Ended ended = with(world.token()).run("get", "deploy", "api");
            assertEquals(
                    "mintmark-client: nothing was minted, because no type of access provider has"
                            + " the output: ORDERS_TOKEN. If the admin of the key defined it, add:"
                            + " --member ORDERS_TOKEN\n",
                    ended.err());
            assertEquals(1, ended.exit());
            world.assertRows(mints, before);
            ended = with(world.token()).run("get", "--member", "ORDERS_TOKEN", "deploy", "api");
            assertEquals(0, ended.exit(), ended.err());
            assertTrue(ended.out().contains("export ORDERS_TOKEN='eyJ"), ended.out());
        } finally {
            world.admin("UPDATE broker.key SET outputs = '{}' WHERE name = 'api'");
        }
    }

    /** A shell has one value of each variable. */
    @Test
    void keys_with_the_same_variable_are_not_minted_together() {
        world.admin(
                "UPDATE broker.key SET outputs = '{\"AWS_SESSION_TOKEN\": \"AccessToken\"}' WHERE name"
                        + " = 'api'");
        String mints = "SELECT count(*) FROM audit.event WHERE kind = 'issued'";
        String before = world.value(mints);
        try {
            for (String[] command :
                    List.of(
                            new String[] {"exec", "deploy", "api", "--", "true"},
                            new String[] {"get", "deploy", "api"},
                            new String[] {"get", "deploy", "api", "--format=dotenv"},
                            new String[] {"get", "deploy", "api", "--format=json", "--distinct"})) {
                Ended ended = with(world.token()).run(command);
                assertEquals(2, ended.exit(), ended.err());
                assertTrue(
                        ended.err()
                                .startsWith(
                                        "mintmark-client: nothing was minted, because several keys have"
                                                + " AWS_SESSION_TOKEN;"),
                        ended.err());
            }
            world.assertRows(mints, before);
            Ended ended = with(world.token()).run("get", "deploy", "api", "--format=json");
            assertEquals(0, ended.exit(), ended.err());
        } finally {
            world.admin("UPDATE broker.key SET outputs = '{}' WHERE name = 'api'");
        }
    }

    @Test
    void a_rate_limit_is_told_with_the_wait() {
        try (World strict =
                new World(Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "1"))) {
            ClientProcess client =
                    ClientProcess.under(shell)
                            .with("MINTMARK_URL", strict.broker().url().toString())
                            .with("MINTMARK_TOKEN", strict.token());
            client.run("keys");
            Ended ended = client.run("keys", "--timeout", "5");
            assertEquals(75, ended.exit());
            assertTrue(
                    ended.err()
                            .matches(
                                    "(?s)mintmark-client: Too many"
                                            + " requests.*RATE_LIMIT_EXCEEDED.*mintmark-client: retry"
                                            + " in \\d+ s\n"),
                    ended.err());
        }
    }
}
