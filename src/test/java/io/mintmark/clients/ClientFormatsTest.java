package io.mintmark.clients;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

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
import java.util.List;
import java.util.Optional;

/** What the shell client gives to shells, programs and files, whatever the values are. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientFormatsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Everything that a shell, a terminal or a parser of such files would like to act on. */
    private static final String WILD =
            "it's \"q\" $HOME $(touch pwned) `touch pwned` \\n"
                    + " \\ * ; & | # !\n\n"
                    + "\tzweite Zeile ü\n";

    @TempDir Path directory;
    @AutoClose private final StandIn broker = new StandIn();
    private final ClientProcess client;

    ClientFormatsTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc");
    }

    private String minted(String format, String value) throws IOException {
        broker.mints("deploy", JSON.createObjectNode().put("VALUE", value).toString());
        Ended ended = client.run("get", "deploy", "--member", "VALUE", "--format", format);
        assertEquals(0, ended.exit(), ended.err());
        assertEquals("", ended.err());
        return ended.out();
    }

    /** What a shell has in VALUE after it has run some lines. */
    private String valueAfter(String lines) throws IOException, InterruptedException {
        Path script = directory.resolve("script");
        Files.writeString(script, lines + "\nprintf '%s.' \"$VALUE\"\n");
        Process process =
                new ProcessBuilder("sh", script.toString()).directory(directory.toFile()).start();
        Ended ended = ClientProcess.await(process);
        assertEquals("", ended.err());
        assertFalse(Files.exists(directory.resolve("pwned")));
        return ended.out().substring(0, ended.out().length() - 1);
    }

    @Test
    void env_can_be_evaluated_whatever_the_value_is() throws Exception {
        assertEquals(WILD, valueAfter(minted("env", WILD)));
    }

    @Test
    void a_quoted_dotenv_value_is_what_it_was_to_a_shell_as_well() throws Exception {
        String value = "it's \"q\" $HOME $(touch pwned) `touch pwned` \\ * ; & | # !";
        assertEquals(value, valueAfter(minted("dotenv", value)));
    }

    @Test
    void dotenv_is_bare_where_it_can_be_and_one_line_always() {
        broker.mints(
                "deploy",
                """
                {"BARE": "ab/c+d==", "QUOTED": "a b$c", "ESCAPED": "it's\\n\\"$`\\\\", "EMPTY": ""}
                """);
        assertEquals(
                """
                BARE=ab/c+d==
                QUOTED='a b$c'
                ESCAPED="it's\\n\\"\\$\\`\\\\"
                EMPTY=''
                """,
                client.run(
                                "get",
                                "deploy",
                                "--format",
                                "dotenv",
                                "--member=BARE",
                                "--member=QUOTED",
                                "--member=ESCAPED",
                                "--member=EMPTY")
                        .out());
    }

    @Test
    void json_is_the_brokers_answer() throws Exception {
        JsonNode answer = JSON.readTree(minted("json", WILD));
        assertEquals(WILD, answer.at("/credentials/deploy/VALUE").asText());
        assertEquals("2026-01-01T00:10:00Z", answer.path("expiresAt").asText());
    }

    @Test
    void a_command_gets_the_very_values_and_its_exit_code_is_passed_on() {
        broker.mints("deploy", JSON.createObjectNode().put("VALUE", WILD).toString());
        Ended ended =
                client.run(
                        "exec",
                        "--member",
                        "VALUE",
                        "deploy",
                        "--",
                        "sh",
                        "-c",
                        "printf '%s.%s' \"$VALUE\" \"$1\"; exit 42",
                        "sh",
                        "an argument with 'quotes'\n$(and more)");
        assertEquals(42, ended.exit());
        assertEquals(WILD + ".an argument with 'quotes'\n$(and more)", ended.out());
        assertEquals("", ended.err());
    }

    @Test
    void a_command_is_the_process_that_was_started_so_signals_reach_it() throws Exception {
        broker.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
        Process process =
                client.start(
                        "exec",
                        "deploy",
                        "--",
                        "sh",
                        "-c",
                        "trap 'exit 7' TERM; echo $$; while :; do sleep 0.05; done");
        long pid = Long.parseLong(process.inputReader().readLine());
        assertEquals(process.pid(), pid);
        process.destroy();
        assertEquals(7, process.waitFor());
    }

    @Test
    void a_command_that_is_not_there_costs_no_credential() {
        Ended ended = client.run("exec", "deploy", "--", "no-such-command-at-all");
        assertEquals(127, ended.exit());
        assertShows(ended.err(), "no-such-command-at-all");
        assertEquals(List.of(), broker.asked());
    }

    @Test
    void the_region_goes_by_both_names() throws Exception {
        broker.mints("deploy", "{\"AWS_REGION\": \"eu-central-1\"}");
        assertEquals(
                "AWS_DEFAULT_REGION=eu-central-1\nAWS_REGION=eu-central-1\n",
                client.run("get", "deploy", "--format=dotenv").out());
        assertEquals(
                "eu-central-1",
                JSON.readTree(client.run("get", "--format", "json", "deploy").out())
                        .at("/credentials/deploy/AWS_DEFAULT_REGION")
                        .asText());
        assertEquals(
                "eu-central-1\n",
                client.run("exec", "deploy", "--", "sh", "-c", "echo $AWS_DEFAULT_REGION").out());
    }

    @Test
    void a_region_that_the_key_itself_names_twice_stays_as_it_is() {
        broker.mints("deploy", "{\"AWS_DEFAULT_REGION\": \"a\", \"AWS_REGION\": \"b\"}");
        assertEquals(
                "AWS_DEFAULT_REGION=a\nAWS_REGION=b\n",
                client.run("get", "deploy", "--format=dotenv").out());
    }

    @Test
    void keys_whose_members_would_overwrite_each_other_are_refused() {
        broker.says(
                "/credentials/mint",
                200,
                """
                {"credentials": {"one": {"ACCESS_TOKEN": "1", "TOKEN_EXPIRY": "2"},
                 "two": {"ACCESS_TOKEN": "3", "TOKEN_EXPIRY": "2"}}}
                """);
        Ended ended = client.run("get", "one", "two");
        assertEquals(2, ended.exit());
        assertEquals("", ended.out());
        assertShows(
                ended.err(),
                "several keys have ACCESS_TOKEN with different values; request one key");
        assertEquals(0, client.run("get", "one", "two", "--format", "json").exit());
        String header = "Mintmark-Distinct-Outputs";
        assertEquals(Optional.empty(), broker.asked().getLast().header(header));
        client.run("get", "one", "two", "--member", "OWN");
        List<String> distinct =
                List.of(broker.asked().getLast().header(header).orElseThrow().split(" "));
        assertTrue(distinct.containsAll(List.of("ACCESS_TOKEN", "OWN")), distinct::toString);
        assertFalse(distinct.contains("AWS_REGION"), "a place may be that of several keys");
        client.run("get", "one");
        assertEquals(Optional.empty(), broker.asked().getLast().header(header));
    }

    @Test
    void the_broker_is_asked_for_the_keys_with_the_token_in_the_header() {
        broker.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
        client.run("get", "deploy");
        StandIn.Asked asked = broker.asked().getFirst();
        assertEquals("/credentials/mint", asked.target());
        assertEquals("{\"keys\":[\"deploy\"]}", asked.body());
        assertEquals("Bearer aaaa.bbbb.cccc", asked.header("Authorization").orElseThrow());
        assertEquals("application/json", asked.header("Content-Type").orElseThrow());
        assertEquals("mintmark-client", asked.header("User-Agent").orElseThrow());
    }

    @Test
    void aws_process_speaks_version_1_of_credential_process() throws Exception {
        broker.says(
                "/sdk/aws/deploy",
                200,
                """
                {"AccessKeyId": "ASIA", "SecretAccessKey": "secret", "Token": "session",
                 "Expiration": "2026-01-01T00:10:00Z"}
                """);
        Ended ended = client.run("aws-process", "deploy");
        assertEquals(
                JSON.readTree(
                        """
                        {"Version": 1, "AccessKeyId": "ASIA", "SecretAccessKey": "secret",
                         "SessionToken": "session", "Expiration": "2026-01-01T00:10:00Z"}
                        """),
                JSON.readTree(ended.out()));
    }

    @Test
    void what_can_not_be_written_is_an_error() throws Exception {
        broker.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
        Ended ended =
                client.run(
                        "exec",
                        "deploy",
                        "--",
                        "sh",
                        "-c",
                        "sh \"$1\" get deploy >/dev/full; exit $?",
                        "sh",
                        ClientProcess.FILE.toString());
        assertEquals(1, ended.exit());
    }
}
