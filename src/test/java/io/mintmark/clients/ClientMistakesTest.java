package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** What the shell client says to its user's likeliest mistakes, before the broker hears of them. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
@Execution(ExecutionMode.CONCURRENT)
class ClientMistakesTest {
    @TempDir Path directory;
    @AutoClose private final StandIn broker = new StandIn();
    private final ClientProcess client;

    ClientMistakesTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc");
    }

    private void assertSays(int exit, String message, Ended ended) {
        assertEquals("mintmark-client: " + message + "\n", ended.err());
        assertEquals(exit, ended.exit());
        assertEquals("", ended.out());
    }

    @Test
    void no_address() {
        assertSays(
                2,
                "MINTMARK_URL is not set; set it to the address of the broker, for example"
                        + " https://mintmark.example.com, or run 'mintmark-client login URL'",
                client.without("MINTMARK_URL").run("keys"));
    }

    @Test
    void an_address_without_tls() {
        assertSays(
                2,
                "MINTMARK_URL must be https; plain http is for this machine only",
                client.with("MINTMARK_URL", "http://mintmark.example.com").run("keys"));
    }

    @Test
    void an_address_on_this_machine_may_go_without() {
        for (String url : List.of("http://localhost/x", "http://127.0.0.1?x", "http://[::1]/")) {
            assertEquals(3, client.with("MINTMARK_URL", url).run("keys", "--once").exit(), url);
        }
    }

    @Test
    void no_token() {
        assertSays(
                2,
                "no token found; set MINTMARK_TOKEN or MINTMARK_TOKEN_FILE, or run"
                        + " 'mintmark-client login URL'",
                client.without("MINTMARK_TOKEN").with("HOME", directory.toString()).run("keys"));
    }

    @Test
    void a_file_of_the_token_that_is_not_there() {
        assertSays(
                2,
                "cannot read the file in MINTMARK_TOKEN_FILE, /no/such/file",
                client.without("MINTMARK_TOKEN")
                        .with("MINTMARK_TOKEN_FILE", "/no/such/file")
                        .run("keys"));
    }

    @Test
    void no_broker_there() {
        String nowhere = "http://127.0.0.1:" + RunningBroker.freePort();
        assertUnreachable(nowhere, "connection refused, or no route");
        assertUnreachable("https://no.such.invalid", "its host name does not resolve");
    }

    private void assertUnreachable(String url, String why) {
        Ended ended = client.with("MINTMARK_URL", url).run("get", "deploy", "--once");
        assertEquals(
                "mintmark-client: cannot reach the broker at %s: %s".formatted(url, why),
                ended.err().lines().toList().getLast());
        assertEquals(3, ended.exit());
        assertEquals("", ended.out());
    }

    @Test
    void names_of_keys_that_can_not_be() {
        for (String name : List.of("a b", "1a", "", "a/b", "a\nb", "a\"b")) {
            Ended ended = client.run("exec", name, "--", "true");
            assertSays(
                    2,
                    "'%s' is not a key name: a letter, then letters, digits, '_', '.' or '-'"
                            .formatted(name),
                    ended);
        }
        assertEquals(List.of(), broker.asked());
    }

    @Test
    void words_that_it_does_not_know() {
        String help = "; run 'mintmark-client help'";
        assertSays(2, "unknown command 'mint'" + help, client.run("mint"));
        assertSays(2, "unknown option --jason" + help, client.run("get", "a", "--jason"));
        assertSays(2, "unknown option -a" + help, client.run("exec", "-a", "--", "true"));
        assertSays(2, "--format needs a value", client.run("get", "a", "--format"));
        assertSays(
                2,
                "--format must be one of: env json dotenv exec-credential",
                client.run("get", "a", "--format=x"));
        assertSays(2, "--format must be one of: text json", client.run("keys", "--format", "env"));
        assertSays(
                2,
                "name a key; 'mintmark-client keys' lists the keys that you may use",
                client.run("get"));
        assertSays(2, "name one key only", client.run("aws-process", "a", "b"));
        for (String timeout : List.of("0", "x", "", "1000", "5s")) {
            assertSays(
                    2,
                    "--timeout must be a number of seconds from 1 to 999",
                    client.run("get", "a", "--timeout", timeout));
        }
        assertSays(
                2,
                "exec needs a command: mintmark-client exec KEY... -- COMMAND",
                client.run("exec", "deploy"));
        assertEquals(2, client.run().exit());
        assertEquals(0, client.run("--help").exit());
    }

    @Test
    void tools_that_are_not_there() throws IOException {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        ClientProcess poor = client.with("PATH", tools.toString());
        assertSays(2, "curl is not installed; this client needs curl and jq", poor.run("keys"));
        tool(tools, "curl", "exit 0");
        assertSays(2, "jq is not installed; this client needs curl and jq", poor.run("keys"));
    }

    @Test
    void a_curl_that_is_too_old() throws IOException {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        tool(
                tools,
                "curl",
                "case $1 in --version) echo 'curl 7.19.7 (x86_64) libcurl/7.19.7';; *) exit 2;;"
                        + " esac");
        assertSays(
                2,
                "curl is too old: this is 7.19.7, and 7.34 or newer is required",
                client.with("PATH", tools + ":" + Shell.SEARCH_PATH).run("keys"));
    }

    private static void tool(Path directory, String name, String lines) throws IOException {
        Path file = directory.resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + lines + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
