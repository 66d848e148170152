package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A broker that was taken over, or something else at its address, answers the shell client. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
@Tag("heavy")
class HostileAnswersTest {
    @AutoClose private final StandIn broker = new StandIn();
    private final ClientProcess client;

    HostileAnswersTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc");
    }

    private static void assertRefused(int exit, String why, Ended ended) {
        assertEquals("", ended.out());
        assertTrue(ended.err().contains(why), ended.err());
        assertEquals(exit, ended.exit());
    }

    @Test
    void names_that_are_no_variables_are_refused() {
        broker.mints("a", "{\"X; touch pwned; Y\": \"b\"}")
                .mints("a", "{\"1X\": \"b\"}")
                .mints("a", "{\"\": \"b\"}")
                .mints("a", "{\"X\\nY\": \"b\"}")
                .mints("a", "{\"Ü\": \"b\"}");
        for (int i = 0; i < 5; i++) {
            assertRefused(1, "a member whose name cannot be a variable", client.run("get", "a"));
        }
    }

    @Test
    void variables_that_change_what_programs_do_are_refused_with_or_without_member() {
        List<String> names =
                List.of(
                        "PATH",
                        "LD_PRELOAD",
                        "BASH_ENV",
                        "IFS",
                        "MAKEFLAGS",
                        "LESSOPEN",
                        "_JAVA_OPTIONS",
                        "GCONV_PATH",
                        "OPENSSL_CONF",
                        "https_proxy",
                        "GIT_SSH_COMMAND");
        names.forEach(name -> broker.mints("a", "{\"%s\": \"b\"}".formatted(name)));
        for (String name : names) {
            assertRefused(
                    1,
                    "it sets %s, a variable that changes what programs do".formatted(name),
                    client.run("exec", "a", "--", "echo", "ran"));
        }
        for (String name : names) {
            assertRefused(
                    2,
                    "--member %s is not allowed".formatted(name),
                    client.run("exec", "--member", name, "a", "--", "echo", "ran"));
        }
    }

    @Test
    void other_members_are_accepted_only_by_name() {
        broker.mints("a", "{\"ACCESS_TOKEN\": \"b\", \"HARMLESS\": \"c\", \"OTHER\": \"d\"}");
        for (String format : List.of("env", "dotenv", "json")) {
            assertRefused(
                    1,
                    "no type of access provider has the output: HARMLESS OTHER. If the admin of the"
                            + " key defined it, add: --member HARMLESS --member OTHER",
                    client.run("get", "a", "--format", format));
        }
        assertRefused(
                1,
                "the output: OTHER.",
                client.run("exec", "--member", "HARMLESS", "a", "--", "echo", "ran"));
        assertEquals(
                "b c d\n",
                client.run(
                                "exec",
                                "--member=HARMLESS",
                                "a",
                                "--member",
                                "OTHER",
                                "--",
                                "sh",
                                "-c",
                                "echo $ACCESS_TOKEN $HARMLESS $OTHER")
                        .out());
    }

    @Test
    void a_variable_that_is_set_is_replaced_only_by_an_accepted_member() {
        client.with("ACCESS_TOKEN", "old").with("HARMLESS", "mine");
        broker.mints("a", "{\"ACCESS_TOKEN\": \"new\", \"HARMLESS\": \"theirs\"}")
                .mints("a", "{\"ACCESS_TOKEN\": \"new\"}");
        String[] show = {"exec", "a", "--", "sh", "-c", "echo $ACCESS_TOKEN $HARMLESS"};
        assertRefused(1, "the output: HARMLESS.", client.run(show));
        assertEquals("new mine\n", client.run(show).out());
    }

    @Test
    void values_with_control_characters_are_refused() {
        broker.mints("a", "{\"ACCESS_TOKEN\": \"a\\u0000b\"}")
                .mints("a", "{\"ACCESS_TOKEN\": \"\\u001b]0;title\\u0007\"}")
                .mints("a", "{\"ACCESS_TOKEN\": \"\\u009b31m\"}")
                .mints("a", "{\"ACCESS_TOKEN\": \"a\\rb\"}");
        for (int i = 0; i < 4; i++) {
            assertRefused(
                    1,
                    "a value that is too long, is no text, or has control characters",
                    client.run("get", "a"));
        }
    }

    @Test
    void values_that_are_no_texts_are_refused() {
        for (String value : List.of("1", "null", "[\"a\"]", '"' + "x".repeat(65_537) + '"')) {
            broker.mints("a", "{\"ACCESS_TOKEN\": %s}".formatted(value));
        }
        for (int i = 0; i < 4; i++) {
            assertRefused(
                    1,
                    "a value that is too long, is no text, or has control characters",
                    client.run("get", "a"));
        }
    }

    @Test
    void a_key_that_was_asked_for_must_be_there_and_others_are_dropped() {
        broker.says(
                "/credentials/mint",
                200,
                "{\"credentials\": {\"a\": {\"ACCESS_TOKEN\": \"b\"}, \"z\": {\"PATH\": \"z\"}}}");
        assertRefused(1, "lacks a key", client.run("get", "a", "b"));
        assertEquals("export ACCESS_TOKEN='b'\n", client.run("get", "a").out());
        assertEquals(
                "{\"credentials\":{\"a\":{\"ACCESS_TOKEN\":\"b\"}}}\n",
                client.run("get", "a", "--format", "json").out());
    }

    @Test
    void messages_can_not_steer_a_terminal() {
        broker.says(
                "/credentials/mint",
                403,
                """
                {"error": "FORBIDDEN\\u001b[2J", "message": "a\\u001b[31mb\\u202ec\\nmintmark-client: d",
                 "requestId": "e\\u0007f", "details": {"allowedKeys": ["g\\u009bh"]}}
                """);
        Ended ended = client.run("get", "a");
        assertEquals(
                """
                mintmark-client: a?[31mb?c?mintmark-client: d (FORBIDDEN?[2J, request e?f)
                mintmark-client: you may use: g?h
                """,
                ended.err());
    }

    @Test
    void the_list_of_keys_can_not_steer_a_terminal() {
        broker.says(
                "/credentials/keys",
                200,
                """
                {"subject": "s\\u001b[0m", "idp": "i", "keys":
                 [{"name": "a", "provider": "p", "maxDuration": 600, "description": "d\\u001b[31m\\te\\nf"}]}
                """);
        assertEquals("a\tp\t600 s\td?[31m?e?f\n", client.run("keys").out());
        assertTrue(client.run("whoami").out().contains("s?[0m"));
        assertTrue(client.run("keys", "--format", "json").out().contains("d\\u001b[31m\\te\\nf"));
    }

    @Test
    void messages_and_lists_can_not_command_the_runner_of_a_pipeline() {
        broker.says(
                        "/credentials/mint",
                        403,
                        """
                        {"error": "##[error]", "message": "::add-path::/tmp ###[group]x", "requestId": "##vso[x]"}
                        """)
                .says(
                        "/credentials/keys",
                        200,
                        """
                        {"subject": "s", "idp": "i", "keys": [{"name": "::add-path::/tmp", "provider": "p",
                         "maxDuration": 600, "description": "##[set-env name=PATH]/tmp"}]}
                        """);
        for (Ended ended :
                List.of(
                        client.run("get", "a"),
                        client.run("keys"),
                        client.run("keys", "--format", "json"),
                        client.run("whoami"))) {
            String text = ended.out() + ended.err();
            assertFalse(text.contains("::") || text.contains("##"), text);
        }
        assertTrue(
                client.run("keys", "--format=json").out().contains(":\\u003aadd-path:\\u003a/tmp"));
    }

    @Test
    void what_is_no_brokers_answer_is_told_as_such() {
        for (String body :
                List.of("<html>a proxy's page</html>", "", "[]", "{", "{\"error\": 1}")) {
            broker.says("/credentials/mint", 404, body).says("/credentials/keys", 200, body);
        }
        for (int i = 0; i < 5; i++) {
            assertRefused(
                    3,
                    "answered HTTP 404, but not as a Mintmark broker does",
                    client.run("get", "a"));
            assertRefused(
                    3, "answered HTTP 200, but not as a Mintmark broker does", client.run("keys"));
        }
    }

    @Test
    void a_redirection_is_not_followed() {
        broker.says("/credentials/mint", 302, "");
        assertRefused(3, "answered HTTP 302", client.run("get", "a"));
        assertEquals(1, broker.asked().size());
    }

    @Test
    void an_answer_without_end_is_cut_short() {
        broker.says("/credentials/mint", 200, "x".repeat(2_000_000));
        assertRefused(3, "its response is too long", client.run("get", "a"));
    }

    /** The client keeps 64 KiB more than a body may have; with long headers, less than was sent. */
    @Test
    void an_answer_that_is_cut_where_the_server_wants_it_says_nothing() throws IOException {
        for (String end :
                List.of("\n5 5\n0 503 0.1 UID[`id>pwned`] ", "\n0 503 0.1 UID[`id>pwned`] ")) {
            String head = "HTTP/1.1 503 Word\r\n" + ("X: " + "y".repeat(1000) + "\r\n").repeat(200);
            String last = "Content-Length: 1048000\r\n\r\n";
            int before = 1_048_576 + 65_536 - head.length() - last.length() - end.length();
            String body = "\u0000".repeat(before) + end + "z".repeat(1_048_000);
            String raw = head + last + body.substring(0, 1_048_000);
            try (RawServer server =
                    RawServer.serving(socket -> {
                        RawServer.request(socket.getInputStream());
                        socket.getOutputStream().write(raw.getBytes(StandardCharsets.US_ASCII));
                    })) {
                Ended ended =
                        client.with("MINTMARK_URL", server.origin()).run("get", "a", "--once");
                assertRefused(3, "its response is too long", ended);
                assertEquals(1, server.connections());
            }
        }
    }

    @Test
    void a_half_credential_is_none_to_an_sdk() {
        broker.says("/sdk/aws/a", 200, "{\"AccessKeyId\": \"A\", \"SecretAccessKey\": \"b\"}");
        assertRefused(3, "not as a Mintmark broker does", client.run("aws-process", "a"));
    }

    @Test
    void an_address_can_not_smuggle_options_to_curl() {
        for (String url :
                List.of(
                        "https://a\"\noutput = \"pwned", "https://user@a",
                        "http://localhost:x@evil.example", "http://127.0.0.1.evil.example",
                        "file:///etc/passwd", "--version")) {
            Ended ended = client.with("MINTMARK_URL", url).run("keys");
            assertEquals(2, ended.exit(), url);
            assertTrue(ended.err().startsWith("mintmark-client: MINTMARK_URL "), ended.err());
        }
        assertFalse(client.with("MINTMARK_TOKEN", "a\"\noutput = \"b").run("keys").exit() == 0);
        assertEquals(List.of(), broker.asked());
    }
}
