package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** Where the shell client's secrets must not show. */
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#installed")
class ClientLeaksTest {
    private static final String TOKEN = "dG9rZW4.c2VjcmV0.c2lnbmF0dXJl";
    private static final String SECRET = "the-secret-of-the-credential";

    @TempDir Path directory;
    private final Shell shell;
    private final StandIn broker = new StandIn();

    ClientLeaksTest(Shell shell) {
        this.shell = shell;
    }

    @BeforeEach
    void mints() {
        broker.mints("deploy", "{\"VALUE\": \"%s\"}".formatted(SECRET))
                .says(
                        "/credentials/keys",
                        200,
                        "{\"subject\": \"s\", \"idp\": \"i\", \"keys\": []}");
    }

    @AfterEach
    void stop() {
        broker.close();
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
        for (String tool : List.of("curl", "jq", "cat", "sed")) {
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
        ClientProcess client = client("-a").with("PATH", tools + ":" + Shell.SEARCH_PATH);
        for (String name : List.of("mm_token", "mm_config", "mm_reply", "mm_answer", "mm_output")) {
            client.with(name, "exported from outside");
        }
        assertTrue(client.run("get", "deploy").out().contains(SECRET));
        String shown = Files.readString(seen);
        assertTrue(shown.contains("\ncurl -q"), shown);
        assertNoSecret("arguments and variables", shown);
    }

    @Test
    void a_command_gets_the_credential_and_not_the_token() throws IOException {
        Ended ended = client("-a").with("mm_token", "exported").run("exec", "deploy", "--", "env");
        assertTrue(ended.out().contains("VALUE=" + SECRET), ended.out());
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
