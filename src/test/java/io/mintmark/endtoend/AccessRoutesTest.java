package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Requests for access over HTTP: who may ask, who may decide, and what comes of it. */
class AccessRoutesTest {
    private static final String ALL = "/access-requests";
    private static final String REASON = "Ticket 4711: the nightly export is stuck";
    private static final String PEOPLE = "mintmark-people";

    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('people', 'acme', '%1$s', '{mintmark-people}', '{approver}'),
                       ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor,approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 1, 7200, false),
                       ('acme', 'deploy', 'ci', 'ci:two:*', 'glob', 2, 7200, false),
                       ('acme', 'api', 'ci', 'ci:glass:*', 'glob', 0, 7200, true);
                INSERT INTO broker.access_approver (rule, idp, subject, match)
                SELECT id, 'people', 'boss:*', 'glob' FROM broker.access_rule;
                INSERT INTO broker.access_approver (rule, idp, subject, match)
                SELECT id, 'ci', 'ci:*', 'glob' FROM broker.access_rule;
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'agents', 'agent:bot' FROM broker.access_rule;

                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('other-people', 'other', '%1$s', '{mintmark-other}', '{subject,approver}');
                """
                        .formatted(world.issuer().url()));
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static String requester(String name) {
        return world.issuer().sign(name, World.AUDIENCE);
    }

    private static String approver(String name) {
        return world.issuer().sign(name, PEOPLE);
    }

    private static HttpRequest.Builder request(String path, String token) {
        return world.broker()
                .request(path)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json");
    }

    private static Answer post(String path, String token, String body, String... headers) {
        HttpRequest.Builder request = request(path, token).POST(BodyPublishers.ofString(body));
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    private static Answer ask(String token, String key, String... headers) {
        return post(
                ALL,
                token,
                "{\"keys\":[\"%s\"],\"reason\":\"%s\",\"seconds\":3600}".formatted(key, REASON),
                headers);
    }

    /** The id of a request that was accepted. */
    private static String asked(String token, String key) {
        Answer answer = ask(token, key);
        assertEquals(202, answer.status(), answer::toString);
        return answer.at("/requests/0/id");
    }

    private static Answer decide(String token, String id, String verdict) {
        return post(ALL + "/" + id + "/decision", token, "{\"verdict\":\"%s\"}".formatted(verdict));
    }

    private static Answer get(String path, String token) {
        return world.broker().send(request(path, token).GET());
    }

    private static Answer delete(String id, String token) {
        return world.broker().send(request(ALL + "/" + id, token).DELETE());
    }

    private static void assertMints(String token, String key) {
        Eventually.holds(() -> world.broker().mint(token, key).status() == 200);
    }

    @Test
    void an_approved_request_grants_until_its_end_and_the_log_knows_why() {
        String token = requester("ci:nightly");
        Answer refused = world.broker().mint(token, "spare");
        assertEquals("403 FORBIDDEN ", refused.verdict());
        assertEquals(List.of("spare"), refused.texts("/details/requestableKeys"));

        Answer answer = ask(token, "spare");
        assertEquals(202, answer.status(), answer::toString);
        assertEquals("spare", answer.at("/requests/0/key"));
        assertEquals("pending", answer.at("/requests/0/status"));
        assertEquals("1", answer.at("/requests/0/approvalsNeeded"));
        assertTrue(Instant.parse(answer.at("/requests/0/expiresAt")).isAfter(Instant.now()));
        assertEquals("no-store", answer.header("Cache-Control"));
        String id = answer.at("/requests/0/id");
        assertEquals(id, asked(token, "spare"), "a repeated request is the same one");
        assertEquals(403, world.broker().mint(token, "spare").status());

        Answer waiting = get(ALL + "?for=decision", approver("boss:a"));
        assertTrue(waiting.body().path("requests").findValuesAsText("id").contains(id));
        Answer granted = decide(approver("boss:a"), id, "approve");
        assertEquals(200, granted.status(), granted::toString);
        assertEquals("granted", granted.at("/status"));
        assertEquals("boss:a", granted.at("/decisions/0/decidedBy"));
        Duration left = Duration.between(Instant.now(), Instant.parse(granted.at("/grantedUntil")));
        assertTrue(left.compareTo(Duration.ofMinutes(55)) > 0, left::toString);
        assertTrue(left.compareTo(Duration.ofMinutes(60)) <= 0, left::toString);

        assertMints(token, "spare");
        world.assertRows(
                "SELECT subject || ' ' || reason FROM broker.subject_grant WHERE id = "
                        + granted.at("/grantId"),
                "ci:nightly request " + id);
        assertEquals("granted", get(ALL + "/" + id, token).at("/status"));
        assertTrue(get(ALL, token).body().path("requests").findValuesAsText("id").contains(id));
    }

    private static Answer decide(String token, String id, String verdict, String revisions) {
        return post(
                ALL + "/" + id + "/decision",
                token,
                "{\"verdict\":\"%s\",\"revisions\":%s}".formatted(verdict, revisions));
    }

    @Test
    void an_approver_is_shown_what_the_key_gives_and_approves_these_revisions() {
        String id = asked(requester("ci:shown"), "spare");
        Answer shown = get(ALL + "/" + id, approver("boss:a"));
        assertEquals(
                world.value(
                        "SELECT provider || ' ' || max_duration FROM broker.key WHERE tenant = 'acme' AND name = 'spare'"),
                shown.at("/gives/provider") + " " + shown.at("/gives/maxDuration"));
        assertEquals(
                world.value(
                        """
                        SELECT a.type FROM broker.key AS k JOIN broker.access_provider AS a
                            ON (a.tenant, a.name) = (k.tenant, k.provider) WHERE k.tenant = 'acme' AND k.name = 'spare'
                        """),
                shown.at("/gives/type"));
        assertFalse(shown.texts("/gives/outputs").isEmpty(), shown::toString);
        world.assertRows(
                "SELECT settings = '%s' AND settings <> '{}' FROM broker.key WHERE tenant = 'acme' AND name = 'spare'"
                        .formatted(shown.body().at("/gives/settings")),
                "t");
        String revisions = shown.body().path("revisions").toString();

        Answer odd = decide(approver("boss:a"), id, "approve", "{\"rule\":1}");
        assertEquals("400 revisions", odd.status() + " " + odd.at("/details/field"));

        Answer granted = decide(approver("boss:a"), id, "approve", revisions);
        assertEquals("granted", granted.at("/status"), granted::toString);
        assertTrue(granted.body().path("gives").isMissingNode(), granted::toString);
        world.assertRows(
                "SELECT revisions = '%s' FROM broker.access_decision WHERE request = '%s'"
                        .formatted(revisions, id),
                "t");
    }

    /** The approver read another key; the one that was asked for is there again. */
    @Test
    void what_was_changed_after_it_was_shown_and_changed_back_is_not_approved() {
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs)
                SELECT tenant, 'turned', provider, max_duration, settings, outputs FROM broker.key WHERE name = 'spare';
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'turned', 'ci', 'ci:back', 7200);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'people', 'boss:a' FROM broker.access_rule WHERE key = 'turned'
                """);
        String id = asked(requester("ci:back"), "turned");
        lengthen(-1);
        String revisions =
                get(ALL + "/" + id, approver("boss:a")).body().path("revisions").toString();
        lengthen(1);

        Answer answer = decide(approver("boss:a"), id, "approve", revisions);
        assertEquals("409 INVALID_REQUEST void", answer.verdict(), answer::toString);
        assertEquals(
                "The request is void, because these have changed since you saw it: key.",
                answer.at("/message"));
        assertEquals("void", get(ALL + "/" + id, requester("ci:back")).at("/status"));

        String other = asked(requester("ci:back"), "turned");
        assertEquals(
                "refused",
                decide(approver("boss:a"), other, "refuse", revisions).at("/status"),
                "a refusal needs no present revisions");
    }

    private static void lengthen(int seconds) {
        world.admin(
                "UPDATE broker.key SET max_duration = max_duration + (%d) WHERE name = 'turned'"
                        .formatted(seconds));
    }

    @Test
    void the_requester_gives_access_back_early() {
        String token = requester("ci:early");
        String id = asked(token, "spare");
        assertEquals("404 NOT_FOUND ", delete(id, approver("nobody")).verdict());
        decide(approver("boss:a"), id, "approve");
        assertMints(token, "spare");

        Answer ended = delete(id, token);
        assertEquals("200 withdrawn", ended.status() + " " + ended.at("/status"));
        assertEquals("false", ended.at("/inForce"));
        Eventually.holds(() -> world.broker().mint(token, "spare").status() == 403);
        assertEquals(200, delete(id, token).status(), "again");
    }

    @Test
    void an_approver_withdraws_access_and_the_answer_lists_its_credentials() {
        String token = requester("ci:withdrawn");
        String id = asked(token, "spare");
        assertEquals("409 INVALID_REQUEST not_granted", delete(id, approver("boss:b")).verdict());
        decide(approver("boss:a"), id, "approve");
        assertMints(token, "spare");
        assertEquals("404 NOT_FOUND ", delete(id, approver("nobody")).verdict());
        assertEquals(
                "404 NOT_FOUND ",
                delete(id, world.issuer().sign("boss:b", "mintmark-other")).verdict());
        assertEquals("404 NOT_FOUND ", decide(approver("nobody"), id, "withdraw").verdict());
        assertEquals("403 FORBIDDEN own_request", decide(token, id, "withdraw").verdict());

        Answer ended = delete(id, approver("boss:b"));

        assertEquals("200 withdrawn", ended.status() + " " + ended.at("/status"));
        assertEquals(
                "withdraw boss:b",
                ended.at("/decisions/1/verdict") + " " + ended.at("/decisions/1/decidedBy"));
        assertEquals("cannot_end", ended.at("/credentials/0/state"));
        assertTrue(Instant.parse(ended.at("/credentials/0/expiresAt")).isAfter(Instant.now()));
        Eventually.holds(() -> world.broker().mint(token, "spare").status() == 403);
        assertEquals(200, delete(id, approver("boss:b")).status(), "again");
        assertEquals("409 INVALID_REQUEST not_granted", delete(id, approver("boss:a")).verdict());
        assertEquals(200, delete(id, token).status(), "the requester may give back what is over");
    }

    /** Only for its approvers, and nothing that has ended. */
    @Test
    void an_approver_finds_the_access_that_it_may_withdraw() {
        String id = asked(requester("ci:listed"), "spare");
        assertEquals(List.of(), withdrawable(approver("boss:b"), id));
        decide(approver("boss:a"), id, "approve");
        assertEquals(List.of("true"), withdrawable(approver("boss:b"), id));
        assertEquals(List.of("true"), withdrawable(requester("ci:other"), id));
        assertEquals(List.of(), withdrawable(requester("ci:listed"), id));
        assertEquals(List.of(), withdrawable(approver("nobody"), id));
        assertEquals(List.of(), withdrawable(world.issuer().sign("boss:b", "mintmark-other"), id));
        assertEquals("true", get(ALL + "/" + id, approver("boss:b")).at("/mayWithdraw"));
        assertEquals("false", get(ALL + "/" + id, requester("ci:listed")).at("/mayWithdraw"));
        Answer decision = get(ALL + "?for=decision", approver("boss:b"));
        assertFalse(decision.body().path("requests").findValuesAsText("id").contains(id));

        delete(id, approver("boss:b"));
        assertEquals(List.of(), withdrawable(approver("boss:b"), id));
        assertEquals("false", get(ALL + "/" + id, approver("boss:b")).at("/mayWithdraw"));
    }

    /** Whether the list of a token says of a request that it may be withdrawn, if it has it. */
    private static List<String> withdrawable(String token, String id) {
        Answer list = get(ALL + "?for=withdrawal", token);
        assertEquals(200, list.status(), list::toString);
        return list.body()
                .path("requests")
                .valueStream()
                .filter(request -> request.path("id").asText().equals(id))
                .map(request -> request.path("mayWithdraw").asText())
                .toList();
    }

    /** Who could read it in the request of their own, and nobody else. */
    @Test
    void a_mint_after_a_withdrawal_says_who_withdrew_the_access() {
        String token = requester("ci:gone");
        String id = asked(token, "spare");
        decide(approver("boss:a"), id, "approve");
        assertMints(token, "spare");
        delete(id, approver("boss:b"));
        Eventually.holds(() -> world.broker().mint(token, "spare").status() == 403);

        Answer refused = world.broker().mint(token, "spare");
        assertEquals(
                "Subject 'ci:gone' has no active grant for key 'spare' (boss:b of people withdrew the access of request %s to key 'spare'); use POST /access-requests to ask for access to key 'spare'."
                        .formatted(id),
                refused.at("/message"));
        assertEquals(
                "spare %s boss:b of people".formatted(id),
                "%s %s %s"
                        .formatted(
                                refused.at("/details/withdrawn/0/key"),
                                refused.at("/details/withdrawn/0/request"),
                                refused.at("/details/withdrawn/0/by")));
        assertTrue(
                Instant.parse(refused.at("/details/withdrawn/0/at")).isBefore(Instant.now()),
                refused::toString);
        Answer other = world.broker().mint(requester("ci:stranger"), "spare");
        assertTrue(other.body().at("/details/withdrawn").isMissingNode(), other::toString);
        assertFalse(other.at("/message").contains(id), other::toString);

        world.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'ci:gone', 'INC-1')");
        Eventually.holds(() ->
                world.broker()
                        .mint(token, "spare")
                        .body()
                        .at("/details/requestableKeys")
                        .isMissingNode());
        Answer blocked = world.broker().mint(token, "spare");
        assertTrue(blocked.body().at("/details/withdrawn").isMissingNode(), blocked::toString);
    }

    @Test
    void an_approver_says_why_the_access_is_withdrawn() {
        String token = requester("ci:explained");
        String id = asked(token, "spare");
        decide(approver("boss:a"), id, "approve");

        Answer ended =
                post(
                        ALL + "/" + id + "/decision",
                        approver("boss:a"),
                        "{\"verdict\":\"withdraw\",\"note\":\"INC-7 is over\"}");

        assertEquals("200 withdrawn", ended.status() + " " + ended.at("/status"));
        assertEquals("INC-7 is over", get(ALL + "/" + id, token).at("/decisions/1/note"));
    }

    @Test
    void what_cannot_come_to_anything_is_refused_at_once() {
        Answer brief =
                post(
                        ALL,
                        requester("ci:brief"),
                        "{\"keys\":[\"spare\"],\"reason\":\"%s\",\"seconds\":60}"
                                .formatted(REASON));
        assertEquals(400, brief.status(), brief::toString);
        assertEquals("seconds", brief.at("/details/field"));
        assertTrue(
                brief.at("/message").contains("must be requested for at least 61 seconds"),
                brief::toString);

        world.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access)
                VALUES ('acme', 'deploy', 'ci', 'lonely', 7200)
                """);
        Answer lonely = ask(requester("lonely"), "deploy");
        assertEquals("409 INVALID_REQUEST nobody_can_approve", lonely.verdict());
        assertTrue(lonely.at("/message").contains("has no approver"), lonely::toString);
    }

    @Test
    void a_mint_that_fails_by_its_duration_alone_says_so() {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until)
                VALUES ('acme', 'ci', 'short:one', 'deploy', now() + interval '5 minutes')
                """);
        Answer refused = world.broker().mint(requester("short:one"), "deploy");
        assertEquals("403 FORBIDDEN ", refused.verdict());
        assertEquals("deploy", refused.at("/details/tooShort/0/key"));
        assertEquals("900", refused.at("/details/tooShort/0/least"));
        assertTrue(
                refused.at("/message").contains("shortest credential is valid for 900 s"),
                refused::toString);
    }

    @Test
    void two_people_are_needed_and_one_refusal_ends_it() {
        String id = asked(requester("ci:two:a"), "deploy");
        assertEquals("pending", decide(approver("boss:a"), id, "approve").at("/status"));
        assertEquals("pending", decide(approver("boss:a"), id, "approve").at("/status"));
        assertEquals(
                "409 INVALID_REQUEST already_decided",
                decide(approver("boss:a"), id, "refuse").verdict());
        assertEquals("granted", decide(approver("boss:b"), id, "approve").at("/status"));
        assertEquals(
                "409 INVALID_REQUEST not_pending",
                decide(approver("boss:c"), id, "approve").verdict());

        String refused = asked(requester("ci:two:b"), "deploy");
        assertEquals("refused", decide(approver("boss:a"), refused, "refuse").at("/status"));
        assertEquals(
                "409 INVALID_REQUEST not_pending",
                decide(approver("boss:b"), refused, "approve").verdict());
    }

    @Test
    void nobody_approves_their_own_request_and_no_agent_that_of_its_principal() {
        String token = requester("ci:self");
        String id = asked(token, "spare");
        assertEquals("403 FORBIDDEN own_request", decide(token, id, "approve").verdict());

        String bot = world.issuer().sign("agent:bot", "mintmark-agents");
        String acted =
                ask(requester("ci:principal"), "spare", "Mintmark-Actor-Token", bot)
                        .at("/requests/0/id");
        world.assertRows(
                "SELECT actor_idp || ' ' || actor FROM broker.access_request WHERE id = '%s'"
                        .formatted(acted),
                "agents agent:bot");
        assertEquals("403 FORBIDDEN own_request", decide(bot, acted, "approve").verdict());
        Answer together =
                post(
                        ALL + "/" + acted + "/decision",
                        requester("ci:other"),
                        "{\"verdict\":\"approve\"}",
                        "Mintmark-Actor-Token",
                        bot);
        assertEquals("403 FORBIDDEN decided_with_actor", together.verdict());
        assertEquals("pending", get(ALL + "/" + acted, bot).at("/status"));
    }

    @Test
    void the_grant_of_an_agents_request_is_for_both_together() {
        String bot = world.issuer().sign("agent:bot", "mintmark-agents");
        String token = requester("ci:pair");
        String id = ask(token, "spare", "Mintmark-Actor-Token", bot).at("/requests/0/id");
        assertEquals("granted", decide(approver("boss:a"), id, "approve").at("/status"));
        Eventually.holds(() ->
                world.broker()
                                .post(
                                        "{\"keys\":[\"spare\"]}",
                                        "Authorization",
                                        "Bearer " + token,
                                        "Mintmark-Actor-Token",
                                        bot)
                                .status()
                        == 200);
        assertEquals(403, world.broker().mint(token, "spare").status());
    }

    @Test
    void what_an_agent_asked_with_its_principal_is_found_behind_newer_requests_of_the_principal() {
        String bot = world.issuer().sign("agent:bot", "mintmark-agents");
        String token = requester("ci:busy");
        String id = ask(token, "spare", "Mintmark-Actor-Token", bot).at("/requests/0/id");
        world.database()
                .runAsSuperuser(
                        """
                        SET session_replication_role = replica;
                        INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals,
                                                           expires_at, requested_at, status)
                        SELECT q.tenant, q.rule, q.key, q.idp, q.issuer, q.subject, q.reason, q.access, q.break_glass, q.approvals,
                               q.expires_at, q.requested_at + n * interval '1 second', 'refused'
                          FROM broker.access_request AS q CROSS JOIN generate_series(1, 120) AS n WHERE q.id = '%s'
                        """
                                .formatted(id));

        Answer together =
                world.broker().send(request(ALL, token).header("Mintmark-Actor-Token", bot).GET());
        assertEquals(List.of(id), together.body().findValuesAsText("id"));
        assertEquals(100, get(ALL, token).body().path("requests").size());
    }

    @Test
    void the_same_name_at_another_tenant_is_somebody_else() {
        String id = asked(requester("ci:foreign"), "spare");
        String foreign = world.issuer().sign("boss:a", "mintmark-other");
        assertEquals("404 NOT_FOUND ", decide(foreign, id, "approve").verdict());
        assertEquals("404 NOT_FOUND ", get(ALL + "/" + id, foreign).verdict());
        assertEquals(0, get(ALL + "?for=decision", foreign).body().path("requests").size());
        assertEquals("403 FORBIDDEN ", ask(foreign, "spare").verdict());
    }

    @Test
    void an_approvers_token_mints_nothing_and_lists_no_keys() {
        String boss = approver("boss:a");
        assertEquals(
                "401 INVALID_TOKEN subject_not_accepted",
                world.broker().mint(boss, "spare").verdict());
        assertEquals("401 INVALID_TOKEN subject_not_accepted", world.broker().keys(boss).verdict());
        assertEquals(200, get(ALL, boss).status());
    }

    @Test
    void who_may_not_ask_is_told_nothing_about_keys() {
        String boss = approver("boss:a");
        Answer none = ask(boss, "spare");
        assertEquals("403 FORBIDDEN ", none.verdict());
        assertEquals(List.of("spare"), none.texts("/details/deniedKeys"));
        Answer missing = ask(boss, "no-such-key");
        assertEquals(none.at("/message").replace("spare", "no-such-key"), missing.at("/message"));
        Answer mint = world.broker().mint(requester("stranger"), "spare", "deploy");
        assertTrue(mint.body().at("/details/requestableKeys").isMissingNode(), mint::toString);
        Answer one = world.broker().mint(requester("ci:main"), "spare", "nothing");
        assertEquals(List.of("spare"), one.texts("/details/requestableKeys"));
    }

    @Test
    void a_blocked_subject_can_not_ask() {
        String token = requester("ci:blocked");
        world.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'ci:blocked', 'test')");
        assertEquals("403 FORBIDDEN ", ask(token, "spare").verdict());
        Eventually.holds(() ->
                world.broker()
                        .mint(token, "spare")
                        .body()
                        .at("/details/requestableKeys")
                        .isMissingNode());
    }

    @Test
    void open_requests_of_a_subject_are_bounded() {
        String token = requester("ci:many");
        for (int seconds = 1001; seconds <= 1005; seconds++) {
            assertEquals(202, ask(token, seconds).status());
        }
        Answer sixth = ask(token, 1006);
        assertEquals(429, sixth.status(), sixth::toString);
        assertEquals("RATE_LIMIT_EXCEEDED", sixth.at("/error"));
        assertEquals("5", sixth.at("/details/limit"));
        assertEquals("0", sixth.header("X-RateLimit-Remaining"));
        assertTrue(sixth.body().path("retryAfter").asLong() > 0, sixth::toString);
        assertEquals(sixth.at("/retryAfter"), sixth.header("Retry-After"));
    }

    private static Answer ask(String token, int seconds) {
        return post(
                ALL,
                token,
                "{\"keys\":[\"spare\"],\"reason\":\"%s\",\"seconds\":%d}"
                        .formatted(REASON, seconds));
    }

    @Test
    void break_glass_is_granted_at_once_and_counted() {
        String token = requester("ci:glass:a");
        Answer answer = ask(token, "api");
        assertEquals(202, answer.status(), answer::toString);
        assertEquals("granted", answer.at("/requests/0/status"));
        assertEquals("0", answer.at("/requests/0/approvalsNeeded"));
        assertFalse(answer.at("/requests/0/grantId").isEmpty());
        assertMints(token, "api");
        URI scraped =
                URI.create(
                        "http://localhost:%d/observe/metrics"
                                .formatted(world.broker().adminPort()));
        String metrics = world.broker().send(HttpRequest.newBuilder(scraped)).response().body();
        assertTrue(
                metrics.lines()
                        .anyMatch(line ->
                                line.matches("mintmark_break_glass_total(\\{.*})? [1-9].*")),
                metrics);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    []                                                              | body
                    {"keys":["spare"],"reason":"long enough","seconds":900,"x":1}   | x
                    {"keys":[],"reason":"long enough","seconds":900}                | keys
                    {"keys":["spare","spare"],"reason":"long enough","seconds":900} | keys
                    {"keys":["spare"],"reason":"short","seconds":900}               | reason
                    {"keys":["spare"],"reason":7,"seconds":900}                     | reason
                    {"keys":["spare"],"seconds":900}                                | reason
                    {"keys":["spare"],"reason":"long enough"}                       | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":"900"}       | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":1e3}         | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":0}           | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":99999999999} | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":7201}        | seconds
                    {"keys":["spare"],"reason":"long enough","seconds":900,"breakGlass":1} | breakGlass
                    {"keys":["spare"],"reason":"long enough","seconds":900,"oidcToken":[]} | oidcToken
                    """)
    void a_bad_body_is_refused_with_the_member(String body, String field) {
        Answer answer = post(ALL, requester("ci:bad-body"), body);
        assertEquals(400, answer.status(), answer::toString);
        assertEquals("INVALID_REQUEST", answer.at("/error"));
        assertEquals(field, answer.at("/details/field"));
        world.assertRows(
                "SELECT count(*) FROM broker.access_request WHERE subject = 'ci:bad-body'", "0");
    }

    @Test
    void hostile_texts_are_freed_of_what_misleads() {
        String token = requester("ci:hostile");
        Answer answer =
                post(
                        ALL,
                        token,
                        "{\"keys\":[\"spare\"],\"reason\":\"please \\u202eevil\\u0007 \\u0000 text\",\"seconds\":900}");
        if (answer.status() == 202) {
            String reason = get(ALL + "/" + answer.at("/requests/0/id"), token).at("/reason");
            assertTrue(
                    reason.codePoints()
                            .noneMatch(point -> point < 32 || point == 0x202E || point == 0x7F),
                    reason);
        } else {
            assertEquals("reason", answer.at("/details/field"), answer::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00000000-0000-0000-0000-000000000000",
                "nonsense",
                "1-1-1-1-1",
                "%00",
                "x' OR true --"
            })
    void an_unknown_id_is_not_found(String id) {
        String path = ALL + "/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
        assertEquals(404, get(path, requester("ci:main")).status());
        assertEquals(
                404, world.broker().send(request(path, requester("ci:main")).DELETE()).status());
        assertEquals(
                404,
                post(path + "/decision", requester("ci:main"), "{\"verdict\":\"approve\"}")
                        .status());
    }

    @Test
    void other_methods_parameters_and_tokens_are_refused_as_everywhere() {
        assertEquals(405, world.broker().send(request(ALL, "x").DELETE()).status());
        assertEquals(
                "400 INVALID_REQUEST The parameter 'for' must be 'me', 'decision' or 'withdrawal'.",
                get(ALL + "?for=all", requester("ci:main")).verdict());
        assertEquals("401 UNAUTHORIZED no_token_provided", world.broker().get(ALL).verdict());
        assertEquals("401 UNAUTHORIZED malformed_jwt", get(ALL, "x").verdict());
        assertEquals(200, world.broker().get(ALL + "?token=" + requester("ci:main")).status());
        Answer inBody =
                world.broker()
                        .send(
                                world.broker()
                                        .request(ALL)
                                        .header("Content-Type", "application/json")
                                        .POST(
                                                BodyPublishers.ofString(
                                                        "{\"oidcToken\":\"%s\",\"keys\":[\"spare\"],\"reason\":\"%s\",\"seconds\":600}"
                                                                .formatted(
                                                                        requester("ci:in-body"),
                                                                        REASON))));
        assertEquals(202, inBody.status(), inBody::toString);
        String id = UUID.randomUUID().toString();
        assertEquals(
                "400 INVALID_REQUEST 'verdict' must be \"approve\", \"refuse\" or \"withdraw\".",
                decide(requester("ci:main"), id, "maybe").verdict());
    }

    @Test
    void a_rejected_token_is_on_record_here_too() {
        String token = world.issuer().sign("ci:main", "nobody");
        Answer answer = get(ALL, token);
        assertEquals("401 UNAUTHORIZED invalid_audience", answer.verdict());
        Eventually.holds(() ->
                world.auditedFor(answer.header("X-Request-ID"))
                        .equals(List.of("rejected invalid_audience")));
    }

    @Test
    void two_approvers_at_once_on_two_replicas_make_one_grant() throws Exception {
        TestDatabase database = world.database();
        try (RunningBroker second = RunningBroker.on(database)) {
            for (int round = 0; round < 5; round++) {
                String id = asked(requester("ci:two:race-" + round), "deploy");
                String body = "{\"verdict\":\"approve\"}";
                String path = ALL + "/" + id + "/decision";
                List<Thread> threads =
                        List.of(
                                Thread.ofVirtual()
                                        .unstarted(() -> post(path, approver("boss:a"), body)),
                                Thread.ofVirtual()
                                        .unstarted(() ->
                                                second.send(
                                                        second.request(path)
                                                                .header(
                                                                        "Authorization",
                                                                        "Bearer "
                                                                                + approver(
                                                                                        "boss:b"))
                                                                .header(
                                                                        "Content-Type",
                                                                        "application/json")
                                                                .POST(
                                                                        BodyPublishers.ofString(
                                                                                body)))));
                threads.forEach(Thread::start);
                for (Thread thread : threads) {
                    thread.join();
                }
                assertEquals("granted", get(ALL + "/" + id, approver("boss:a")).at("/status"));
                world.assertRows(
                        "SELECT count(*) FROM broker.subject_grant WHERE request_id = '%s'"
                                .formatted(id),
                        "1");
            }
        }
    }
}
