package io.mintmark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.World;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import picocli.CommandLine;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

class ExplainTest {
    private static World world;

    private record Printed(int status, String text) {
        /** A line's words. */
        List<String> line(String beginning) {
            return text.lines()
                    .filter(line -> line.startsWith(beginning))
                    .map(line -> Arrays.asList(line.split(" {2,}")))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(text));
        }
    }

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                UPDATE broker.subject_grant SET claims = '{"/ci/env/0": "prod", "ref": "main"}'
                 WHERE key = 'api'
                """);
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static Printed explain(String input, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int status =
                new CommandLine(
                                new Explain(
                                        () -> world.database().login(Who.AUDITOR),
                                        new ByteArrayInputStream(
                                                input.getBytes(StandardCharsets.UTF_8)),
                                        out))
                        .setErr(new PrintWriter(bytes, true, StandardCharsets.UTF_8))
                        .setExecutionExceptionHandler((failure, _, _) -> {
                            out.println(failure.getMessage());
                            return 1;
                        })
                        .execute(arguments);
        return new Printed(status, bytes.toString(StandardCharsets.UTF_8));
    }

    @Test
    void a_token_is_explained_key_by_key() {
        Printed printed = explain("", world.token());
        assertEquals(0, printed.status(), printed.text());
        assertEquals(List.of("deploy", "yes", "1", "-", "-", "-"), printed.line("deploy"));
        assertEquals(
                List.of("api", "no", "2", "claim /ci/env/0", "\"prod\"", "-"), printed.line("api"));
        assertEquals("a grant", printed.line("spare").get(3));
    }

    @Test
    void a_token_can_come_by_standard_input() {
        assertEquals("yes", explain(world.token() + "\n", "-").line("deploy").get(1));
    }

    @Test
    void claims_do_as_well_as_a_token() {
        Printed printed =
                explain(
                        "",
                        "--idp",
                        "ci",
                        "{\"sub\": \"ci:main\", \"ref\": \"dev\", \"ci\": {\"env\": [\"prod\"]}}");
        assertEquals(
                List.of("api", "no", "2", "claim ref", "\"main\"", "\"dev\""), printed.line("api"));
    }

    @Test
    void a_past_request_is_explained_from_its_audit_rows() {
        String token =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub",
                                        World.SUBJECT,
                                        "aud",
                                        World.AUDIENCE,
                                        "ref",
                                        "main",
                                        "ci",
                                        Map.of("env", List.of("prod"))));
        world.broker()
                .post(
                        "{\"keys\":[\"api\",\"spare\"]}",
                        "Authorization",
                        "Bearer " + token,
                        "X-Request-ID",
                        "past-1");
        Printed printed = explain("", "--request", "past-1");
        assertEquals(0, printed.status(), printed.text());
        assertTrue(printed.text().contains("spare  denied: not_granted"), printed.text());
        assertEquals("yes", printed.line("api").get(1), printed.text());
        assertEquals("no", printed.line("spare").get(1));
    }

    @Test
    void nobody_in_particular_is_told_what_to_give() {
        Printed printed = explain("");
        assertEquals(1, printed.status());
        assertTrue(printed.text().contains("needs a token, its claims, or --request ID"));
    }

    @Test
    void an_unknown_identity_provider_is_told_with_those_that_there_are() {
        Printed printed = explain("", "--idp", "cj", "{\"sub\": \"x\"}");
        assertEquals(1, printed.status());
        assertTrue(printed.text().contains("Did you mean \"ci\"?"), printed.text());
    }

    @Test
    void what_is_no_token_is_not_repeated() {
        Printed printed = explain("", "secret.secret.secret");
        assertEquals(1, printed.status());
        assertTrue(!printed.text().contains("secret"), printed.text());
    }
}
