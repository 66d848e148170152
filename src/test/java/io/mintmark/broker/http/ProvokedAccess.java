package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

/** Provokes the answers of requests for access. */
final class ProvokedAccess {
    private static final String JSON = "Content-Type: application/json";

    private final RealAnswers answers;
    private final World world;

    ProvokedAccess(RealAnswers answers, World world) {
        this.answers = answers;
        this.world = world;
    }

    void provoke() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('people', 'acme', '%s', '{mintmark-people}', '{approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:asker', 'exact', 1, 7200, false),
                       ('acme', 'api', 'ci', 'ci:asker', 'exact', 0, 7200, true);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'people', 'boss' FROM broker.access_rule
                """
                        .formatted(world.issuer().url()));
        String asker = world.issuer().sign("ci:asker", World.AUDIENCE);
        String boss = world.issuer().sign("boss", "mintmark-people");
        Eventually.holds(() ->
                world.broker().get("/access-requests", "Authorization", "Bearer " + boss).status()
                        == 200);
        answers.mint(world, asker, "spare");
        answers.ask(world, "POST /access-requests", "{}", "Content-Type: text/plain");
        answers.ask(world, "POST /access-requests/x/decision", "{}", "Content-Type: text/plain");
        ask("garbage", "spare");
        decided("garbage", "x", "approve");
        String first = asked(asker);
        decided(asker, first, "approve");
        decided(boss, first, "approve");
        get(first, asker);
        answers.ask(world, "GET /access-requests", "", "Authorization: Bearer " + asker);
        answers.ask(
                world, "GET /access-requests?for=decision", "", "Authorization: Bearer " + boss);
        answers.ask(world, "GET /access-requests?for=x", "");
        answers.ask(
                world, "GET /access-requests?for=withdrawal", "", "Authorization: Bearer " + boss);
        deleted(first, boss);
        answers.mint(world, asker, "spare");
        deleted(first, asker);
        deleted("7c9e6679-7425-40de-944b-e07fc1f90ae7", boss);
        String second = asked(asker);
        decided(boss, second, "refuse");
        decided(boss, second, "approve");
        deleted(second, asker);
        stale(boss, asked(asker));
        decided(boss, "7c9e6679-7425-40de-944b-e07fc1f90ae7", "approve");
        get("7c9e6679-7425-40de-944b-e07fc1f90ae7", boss);
        ask(boss, "spare");
        withoutRoom(asker);
    }

    /** Break glass of a tenant that may have no further grants. */
    private void withoutRoom(String asker) {
        world.admin("UPDATE broker.tenant SET max_grants = 1 WHERE name = 'acme'");
        ask(asker, "api");
        world.admin("UPDATE broker.tenant SET max_grants = 1000000 WHERE name = 'acme'");
    }

    private String asked(String token) {
        Exchanged exchanged = ask(token, "spare");
        assertEquals(202, exchanged.answer().status(), exchanged.answer()::toString);
        JsonNode body = Unchecked.call(() -> exchanged.answer().json());
        return body.at("/requests/0/id").asText();
    }

    private Exchanged ask(String token, String key) {
        return answers.ask(
                world,
                "POST /access-requests",
                "{\"keys\":[\"%s\"],\"reason\":\"The export is stuck\",\"seconds\":3600}"
                        .formatted(key),
                JSON,
                "Authorization: Bearer " + token);
    }

    private void decided(String token, String id, String verdict) {
        answers.ask(
                world,
                "POST /access-requests/" + id + "/decision",
                "{\"verdict\":\"%s\",\"note\":\"noted\"}".formatted(verdict),
                JSON,
                "Authorization: Bearer " + token);
    }

    /** Approves what nobody was shown. */
    private void stale(String token, String id) {
        answers.ask(
                world,
                "POST /access-requests/" + id + "/decision",
                "{\"verdict\":\"approve\",\"revisions\":{\"rule\":1,\"key\":2,\"accessProvider\":3}}",
                JSON,
                "Authorization: Bearer " + token);
    }

    private void get(String id, String token) {
        answers.ask(world, "GET /access-requests/" + id, "", "Authorization: Bearer " + token);
    }

    private void deleted(String id, String token) {
        answers.ask(world, "DELETE /access-requests/" + id, "", "Authorization: Bearer " + token);
    }
}
