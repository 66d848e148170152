package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    @AutoClose private static World world;

    private record Printed(int status, String text) {
        /** A line's words. */
        List<String> line(String beginning) {
            return lines(beginning).stream()
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(text));
        }

        List<List<String>> lines(String beginning) {
            return text.lines()
                    .filter(line -> line.startsWith(beginning))
                    .map(line -> Arrays.asList(line.split(" {2,}")))
                    .toList();
        }
    }

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                UPDATE broker.subject_grant SET claims = '{"/ci/env/0": "prod", "ref": "main"}'
                 WHERE key = 'api';
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'past', 'own', 600, '{"audience": "https://past.example.com"}');
                """);
    }

    private static Printed explain(String input, String... arguments) {
        return explain(Who.AUDITOR, input, arguments);
    }

    private static Printed explain(Who who, String input, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int status =
                new CommandLine(
                                new Explain(
                                        () -> world.database().login(who),
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
    void an_issuer_that_differs_by_a_slash_or_case_and_an_unknown_audience_are_shown() {
        String issuer = world.issuer().url();
        String slash =
                explain(
                                "",
                                "{\"iss\": \"%s/\", \"aud\": \"x\", \"sub\": \"ci:main\"}"
                                        .formatted(issuer))
                        .text();
        assertTrue(
                slash.contains(
                        "('ci' has issuer '%s', which differs by case or a slash, and is compared exactly"
                                .formatted(issuer)),
                slash);
        String audience =
                explain(
                                "",
                                "{\"iss\": \"%s\", \"aud\": \"x\", \"sub\": \"ci:main\"}"
                                        .formatted(issuer))
                        .text();
        assertTrue(
                audience.contains(
                        "('ci' has this issuer with the audiences %s".formatted(World.AUDIENCE)),
                audience);
        String other =
                explain(
                                "",
                                "{\"iss\": \"https://other.example\", \"aud\": \"x\", \"sub\":"
                                        + " \"ci:main\"}")
                        .text();
        assertTrue(
                other.contains("no identity provider that you may see; name an identity provider"),
                other);
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

    @ParameterizedTest
    @ValueSource(strings = {"\"hasgroups\": true", "\"_claim_names\": {\"groups\": \"src1\"}"})
    void groups_that_the_issuer_left_out_are_not_merely_missing(String told) {
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'ada', 'spare', '{\"groups\": \"ops\"}') ON CONFLICT DO NOTHING");
        String claims = "{\"sub\": \"ada\", %s}";
        List<String> line = explain("", "--idp", "ci", claims.formatted(told)).line("spare");
        assertEquals("claim groups", line.get(3));
        assertTrue(
                line.get(5).startsWith("Nothing, because the issuer left the claim groups out"),
                line::toString);
        assertTrue(line.get(5).contains("Entra ID does so"), line::toString);

        String without = claims.formatted("\"hasgroups\": \"yes\"");
        assertEquals("-", explain("", "--idp", "ci", without).line("spare").get(5));
    }

    @Test
    void a_past_request_is_explained_from_its_audit_rows() {
        request("past-1", granted(), "api", "spare");
        Printed printed = explain("", "--request", "past-1");
        assertEquals(3, printed.status(), printed.text());
        assertTrue(printed.text().contains("spare  denied: not_granted"), printed.text());
        assertEquals(1, printed.lines("spare").size(), "one table: " + printed.text());
        assertEquals("no", printed.line("spare").get(1));
        for (String notDenied : List.of("api", "deploy", "past")) {
            assertEquals(List.of(), printed.lines(notDenied), printed.text());
        }
    }

    @Test
    void a_past_request_through_an_actor_is_explained_with_its_actor() {
        request("past-actor", granted(), "api");
        assertEquals("yes", explain("", "--request", "past-actor").line("api").get(1));
        world.database()
                .alterLog(
                        "UPDATE audit.event SET actor_idp = idp, actor_issuer = issuer, actor ="
                                + " 'agent-9' WHERE request_id = 'past-actor'");

        Printed printed = explain("", "--request", "past-actor");

        assertTrue(printed.text().contains(", actor agent-9 of "), printed.text());
        assertEquals("no", printed.line("api").get(1));
    }

    private static String granted() {
        return world.issuer()
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
    }

    private static Answer request(String id, String token, String... keys) {
        return world.broker()
                .post(
                        "{\"keys\":[\"" + String.join("\",\"", keys) + "\"]}",
                        "Authorization",
                        "Bearer " + token,
                        "X-Request-ID",
                        id);
    }

    @Test
    void a_past_mint_shows_the_grant_as_it_was_and_who_changed_what_since() {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason)
                VALUES ('acme', 'ci', 'ci:past', 'past', 300, 'OPS-9')
                """);
        String token = world.issuer().sign("ci:past", World.AUDIENCE);
        Eventually.holds(() -> world.broker().keys(token).status() == 200);
        assertEquals(200, request("past-2", token, "past").status());
        Printed unchanged = explain("", "--request", "past-2");
        assertTrue(
                unchanged
                        .text()
                        .contains("The configuration of tenant acme has not changed since."));
        assertEquals(0, unchanged.status());

        world.admin("DELETE FROM broker.subject_grant WHERE subject = 'ci:past'");
        Printed printed = explain("", "--request", "past-2");
        assertEquals(0, printed.status(), "what the request got: " + printed.text());
        assertTrue(printed.text().contains("  past  issued\n"), printed.text());
        assertTrue(
                printed.text()
                        .contains(
                                "exact ci:past of ci, seconds 300, because OPS-9; made by"
                                        + " test_admin at "),
                printed.text());
        assertTrue(
                printed.text().contains("  test_admin  DELETE broker.subject_grant "),
                printed.text());
        assertEquals("no", printed.line("past").get(1));
    }

    @Test
    void a_past_denial_is_told_for_then_and_for_now() {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from)
                VALUES ('acme', 'ci', 'ci:later', 'past', now() + interval '10 seconds')
                """);
        String token = world.issuer().sign("ci:later", World.AUDIENCE);
        assertEquals(403, request("past-3", token, "past").status());
        Eventually.holds(() -> world.broker().keys(token).status() == 200);
        Printed printed = explain("", "--request", "past-3");
        assertEquals(3, printed.status(), "what the request got: " + printed.text());
        assertTrue(printed.text().contains("  past  denied: not_granted\n"), printed.text());
        assertEquals(
                List.of("valid_from", "-"),
                printed.lines("past").stream().map(line -> line.get(3)).toList(),
                printed.text());
    }

    @Test
    void a_rejected_token_has_no_grants_to_explain() {
        String token = world.issuer().sign(World.SUBJECT, "somebody-else");
        assertEquals(401, request("past-4", token, "api").status());
        Eventually.holds(() -> !world.audited("request_id = 'past-4'").isEmpty());
        Printed printed = explain("", "--request", "past-4");
        assertEquals(3, printed.status(), printed.text());
        assertTrue(printed.text().contains("rejected: invalid_audience"), printed.text());
        assertTrue(
                printed.text()
                        .contains(
                                "{\"tokenAudience\":[\"somebody-else\"],\"expectedAudience\":[\"mintmark-acme\""),
                printed.text());
        assertTrue(printed.text().contains("no grant was checked"), printed.text());
    }

    @Test
    void a_token_without_the_required_claims_shows_what_was_expected_and_seen() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
                SELECT 'strict', 'acme', issuer, '{strict}', '{"owner": "7", "team": {"glob": "ops-*"}, "/a/b": 1}'
                  FROM broker.identity_provider WHERE name = 'ci'
                """);
        String token =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub",
                                        "x",
                                        "aud",
                                        "strict",
                                        "owner",
                                        "8",
                                        "a",
                                        Map.of("b", 1),
                                        "other",
                                        "not shown"));
        Eventually.holds(
                () -> request("past-7", token, "api").verdict().endsWith(" claims_not_accepted"));
        String row = "request_id = 'past-7' AND reason = 'claims_not_accepted'";
        Eventually.holds(() -> !world.audited(row).isEmpty());
        Printed printed = explain("", "--request", "past-7");
        assertTrue(
                printed.text()
                        .contains(
                                "{\"expectedClaims\":{\"/a/b\":1,\"owner\":\"7\",\"team\":{\"glob\":\"ops-*\"}},"
                                        + "\"tokenClaims\":{\"/a/b\":1,\"owner\":\"8\"}}"),
                printed.text());
        assertFalse(
                request("past-8", token, "api").toString().contains("ops-"),
                "clients don't see it");
    }

    @Test
    void a_failed_mint_shows_the_words_of_the_provider() {
        world.sts().next(new StsAnswer.Refusing(403, "AccessDenied", "the role trusts nobody"));
        assertEquals(500, request("past-9", world.token(), "deploy").status());
        Printed printed = explain("", "--request", "past-9");
        assertEquals(3, printed.status(), printed.text());
        assertTrue(printed.text().contains("failed: provider_rejected\n    "), printed.text());
        assertTrue(printed.line("    ").getLast().contains("the role trusts nobody"));
    }

    @Test
    void who_may_not_see_a_request_is_told_as_if_there_were_none() {
        assertEquals(403, request("past-5", world.token(), "past").status());
        Printed printed = explain(Who.TENANT_ADMIN, "", "--request", "past-5");
        assertEquals(1, printed.status());
        assertTrue(printed.text().contains("is not in the audit log, or you may not see it"));
    }

    @Test
    void a_claim_that_postgresql_can_not_hold_is_explained_as_the_broker_decides() {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims)
                VALUES ('acme', 'ci', 'ci:null', 'past', '{"ref": {"glob": "a*c"}}')
                """);
        Map<String, Object> claims =
                Map.of("sub", "ci:null", "aud", World.AUDIENCE, "ref", "a\u0000c", "\u0000", 1);
        String token = world.issuer().sign(claims);
        Eventually.holds(() -> world.broker().mint(token, "past").status() == 200);
        assertEquals("yes", explain("", token).line("past").get(1));
        request("past-6", token, "past");
        assertEquals("yes", explain("", "--request", "past-6").line("past").get(1));
    }

    @Test
    void a_subject_that_the_broker_refuses_is_told_so() {
        Printed printed = explain("", "--idp", "ci", "{\"sub\": \"ci:\\u0000\"}");
        assertEquals(1, printed.status());
        assertTrue(
                printed.text().contains("rejects other tokens as malformed_jwt"), printed.text());
        Printed none = explain("", "--idp", "ci", "{\"ref\": \"main\"}");
        assertTrue(none.text().contains("rejects such tokens with missing_claim"), none.text());
    }

    @Test
    void what_would_move_the_cursor_is_not_printed() {
        Printed printed =
                explain(
                        "",
                        "--idp",
                        "ci",
                        "{\"sub\": \"ci:main\", \"ref\": \"\\u202e\\u009b2J\", \"ci\": {\"env\":"
                                + " [\"prod\"]}}");
        assertTrue(printed.text().contains("⟨U+202E⟩⟨U+009B⟩2J"), printed.text());
        assertTrue(!printed.text().contains("\u202e") && !printed.text().contains("\u009b"));
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
