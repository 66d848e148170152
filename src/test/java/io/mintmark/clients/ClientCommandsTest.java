package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the shell client explains itself, and the token of an actor. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientCommandsTest {
    @TempDir Path directory;

    @AutoClose
    private final StandIn broker = new StandIn().mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");

    private final ClientProcess client;

    ClientCommandsTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", "person.identity.token");
    }

    @Test
    void the_version_is_that_of_the_release() throws IOException {
        Matcher version =
                Pattern.compile("<version>([^<]+)</version>")
                        .matcher(Files.readString(Path.of("pom.xml")));
        assertTrue(version.find());
        assertEquals(
                "mintmark-client %s\n".formatted(version.group(1)), client.run("--version").out());
    }

    @Test
    void a_command_explains_itself_and_its_own_options_alone() {
        Ended help = client.run("request", "--help");
        assertEquals(0, help.exit());
        assertTrue(help.out().contains("mintmark-client request KEY..."), help.out());
        assertTrue(help.out().contains("--break-glass"), help.out());
        assertTrue(help.out().contains("--timeout"), help.out());
        assertFalse(help.out().contains("--listen"), help.out());
        assertFalse(help.out().contains("mintmark-client keys"), help.out());
        assertEquals(2, client.run("nothing", "--help").exit());
    }

    @Test
    void help_behind_two_dashes_is_the_commands_own() {
        Ended ended = client.run("exec", "deploy", "--", "printf", "%s", "--help");
        assertEquals("--help", ended.out(), ended.err());
    }

    @Test
    void options_may_come_before_the_command() {
        Ended early = client.run("--format", "json", "--once", "--timeout=5", "get", "deploy");
        assertEquals(0, early.exit(), early.err());
        assertTrue(early.out().startsWith("{\"credentials\""), early.out());
        Ended exec = client.run("--timeout", "5", "exec", "deploy", "--", "printf", "%s", "--x");
        assertEquals("--x", exec.out(), exec.err());
        assertTrue(client.run("--once", "request", "--help").out().contains("--break-glass"));
        assertEquals(client.run("help").out(), client.run("--timeout", "5", "--help").out());
    }

    @Test
    void options_before_the_command_are_those_of_the_command() {
        Ended foreign = client.run("--listen", "127.0.0.1:0", "get", "deploy");
        assertEquals(2, foreign.exit());
        assertTrue(foreign.err().contains("unknown option --listen"), foreign.err());
        Ended alone = client.run("--once");
        assertEquals(2, alone.exit());
        assertTrue(alone.err().contains("there is no command"), alone.err());
        assertTrue(broker.asked().isEmpty());
    }

    @Test
    void another_shell_is_refused() {
        assertEquals(2, client.run("completion", "tcsh").exit());
    }

    @Test
    void an_actors_token_goes_to_the_broker_beside_the_subjects() throws IOException {
        Path actor = Files.writeString(directory.resolve("actor"), "agent.identity.token\n");
        assertEquals(0, client.run("get", "deploy", "--actor-token-file", actor.toString()).exit());
        assertEquals(
                0,
                client.with("MINTMARK_ACTOR_TOKEN_FILE", actor.toString())
                        .run("get", "deploy")
                        .exit());
        for (StandIn.Asked asked : broker.asked()) {
            assertEquals(Optional.of("agent.identity.token"), asked.header("Mintmark-Actor-Token"));
            assertEquals(
                    Optional.of("Bearer person.identity.token"), asked.header("Authorization"));
        }
        assertEquals(2, broker.asked().size());
        Ended missing = client.run("get", "deploy", "--actor-token-file", "/nowhere");
        assertEquals(2, missing.exit());
        assertTrue(missing.err().contains("cannot read the actor's token"), missing.err());
    }

    @Test
    void githubs_token_service_gets_no_actors_token() throws IOException {
        Path actor = Files.writeString(directory.resolve("actor"), "agent.identity.token");
        broker.says("/token", 200, "{\"value\": \"git.hub.token\"}");
        ClientProcess job =
                client.with("MINTMARK_TOKEN", "")
                        .with("GITHUB_ACTIONS", "true")
                        .with("MINTMARK_AUDIENCE", "mintmark-acme")
                        .with("ACTIONS_ID_TOKEN_REQUEST_URL", broker.url() + "/token?v=2")
                        .with("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "runner.request.token")
                        .with("MINTMARK_ACTOR_TOKEN_FILE", actor.toString());
        assertEquals(0, job.run("get", "deploy").exit());
        assertEquals(Optional.empty(), broker.asked().getFirst().header("Mintmark-Actor-Token"));
        assertEquals(
                Optional.of("agent.identity.token"),
                broker.asked().getLast().header("Mintmark-Actor-Token"));
    }
}
