package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Where the shell client's secrets must not show. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientLeaksTest {
    private static final String TOKEN =
            ClientProcess.token(Map.of("iss", "https://issuer.example.com", "sub", "ci:main"));
    private static final String SECRET = "the-secret-of-the-credential";

    /** Programs that the client calls. */
    private static final List<String> TOOLS =
            List.of(
                    "cat",
                    "curl",
                    "cut",
                    "date",
                    "find",
                    "head",
                    "id",
                    "jq",
                    "mkdir",
                    "mv",
                    "od",
                    "rm",
                    "sed",
                    "sha256sum",
                    "tr");

    @TempDir Path directory;
    private final Shell shell;
    @AutoClose private final StandIn broker = new StandIn();

    ClientLeaksTest(Shell shell) {
        this.shell = shell;
    }

    @BeforeEach
    void mints() {
        broker.mints("deploy", "{\"ACCESS_TOKEN\": \"%s\"}".formatted(SECRET))
                .says(
                        "/sdk/aws/deploy",
                        200,
                        """
                        {"AccessKeyId": "ASIA", "SecretAccessKey": "%s", "Token": "session",
                         "Expiration": "2099-01-01T00:00:00Z"}
                        """
                                .formatted(SECRET))
                .says(
                        "/credentials/keys",
                        200,
                        "{\"subject\": \"s\", \"idp\": \"i\", \"keys\": []}");
    }

    private ClientProcess client(String... options) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        return ClientProcess.under(shell, options)
                .with("MINTMARK_URL", broker.url())
                .with("MINTMARK_TOKEN_FILE", token.toString());
    }

    private static void assertNoSecret(String where, String text) {
        assertFalse(text.contains(TOKEN), where + ": " + text);
        assertFalse(text.contains(SECRET), where + ": " + text);
    }

    @Test
    void a_trace_shows_no_secret() throws IOException {
        for (String option : List.of("-x", "-v", "-xv")) {
            assertNoSecret(option, client(option).run("get", "deploy").err());
            assertNoSecret(option, client(option).run("exec", "deploy", "--", "true").err());
            assertNoSecret(option, client(option).run("whoami").messages());
        }
    }

    @Test
    void programs_that_it_calls_see_no_secret_in_their_arguments_or_variables() throws IOException {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        Path seen = directory.resolve("seen");
        for (String tool : TOOLS) {
            Path script = tools.resolve(tool);
            Files.writeString(
                    script,
                    """
                    #!/bin/sh
                    { echo "%1$s $*"; env; } >>%2$s
                    exec %3$s "$@"
                    """
                            .formatted(tool, seen, Shell.find(tool).orElseThrow()));
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        ClientProcess client =
                client("-a")
                        .with("PATH", tools + ":" + Shell.SEARCH_PATH)
                        .with("HOME", directory.toString());
        variables().forEach(name -> client.with(name, "exported from outside"));
        for (String command : List.of("get", "aws-process", "get --format=exec-credential")) {
            String[] arguments = (command + " deploy").split(" ");
            assertTrue(client.run(arguments).out().contains(SECRET), command);
        }
        String shown = Files.readString(seen);
        assertTrue(shown.contains("\ncurl -q"), shown);
        assertNoSecret("arguments and variables", shown);
    }

    /** Every variable that the client assigns or reads by a name of its own. */
    private static Set<String> variables() throws IOException {
        return Pattern.compile("\\bmm_[a-z_]+\\b")
                .matcher(Files.readString(ClientProcess.FILE))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
    }

    @Test
    void no_text_becomes_a_file_as_here_documents_do_in_some_shells() throws IOException {
        Path action = ClientProcess.FILE.resolveSibling("github").resolve("credentials.sh");
        for (Path file : List.of(ClientProcess.FILE, action)) {
            List<String> lines =
                    Files.readString(file)
                            .lines()
                            .filter(line -> line.matches(".*<<[-<]?[ '\"$A-Za-z].*"))
                            .toList();
            assertEquals(List.of(), lines, file.toString());
        }
    }

    @Test
    void a_shell_whose_printf_is_a_program_is_refused() throws IOException {
        Path script = directory.resolve("other-shell");
        Files.writeString(
                script,
                "command() { [ \"$2\" != printf ] && return; echo /usr/bin/printf; }\n"
                        + Files.readString(ClientProcess.FILE));
        Process process =
                new ProcessBuilder(
                                Stream.concat(
                                                shell.command().stream(),
                                                Stream.of(script.toString(), "get", "deploy"))
                                        .toList())
                        .start();
        Ended ended = ClientProcess.await(process);
        assertEquals(2, ended.exit());
        assertTrue(ended.err().contains("no built-in printf"), ended.err());
        assertEquals(List.of(), broker.asked());
    }

    @Test
    void a_command_gets_the_credential_and_not_the_token() throws IOException {
        Ended ended = client("-a").with("mm_token", "exported").run("exec", "deploy", "--", "env");
        assertTrue(ended.out().contains("ACCESS_TOKEN=" + SECRET), ended.out());
        assertFalse(ended.out().contains(TOKEN), ended.out());
    }

    @Test
    void nothing_is_left_in_files() throws IOException {
        Path temporary = Files.createDirectory(directory.resolve("temporary"));
        ClientProcess client = client().with("TMPDIR", temporary.toString()).with("HOME", "/");
        assertEquals(0, client.run("get", "deploy").exit());
        try (Stream<Path> files = Files.list(temporary)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void a_refusal_shows_no_token() throws IOException {
        broker.says(
                "/sdk/aws/deploy",
                401,
                "{\"error\": \"UNAUTHORIZED\", \"message\": \"No.\", \"requestId\": \"1\"}");
        assertNoSecret("refused", client().run("aws-process", "deploy").messages());
        Files.writeString(directory.resolve("token"), TOKEN + " " + TOKEN);
        Ended ended =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", TOKEN + " twice")
                        .run("keys");
        assertEquals(2, ended.exit());
        assertNoSecret("no token", ended.messages());
    }

    @Test
    void settings_of_curl_that_lie_about_are_not_taken() throws IOException {
        Path home = Files.createDirectory(directory.resolve("home"));
        Files.writeString(home.resolve(".curlrc"), "trace-ascii = \"" + home + "/trace\"\n");
        assertEquals(0, client().with("HOME", home.toString()).run("get", "deploy").exit());
        assertFalse(Files.exists(home.resolve("trace")));
    }
}
