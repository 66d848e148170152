package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The shell client asks for access, and people decide with it. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientRequestsTest {
    private static final String REASON = "Ticket 4711: \"quoted\" \\ $HOME `id` ünï";

    @AutoClose private static final World world = new World();
    @TempDir private Path directory;
    private final Shell shell;
    private final String name = UUID.randomUUID().toString().substring(0, 8);

    ClientRequestsTest(Shell shell) {
        this.shell = shell;
    }

    @BeforeAll
    static void rules() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('people', 'acme', '%1$s', '{mintmark-people}', '{approver}'),
                       ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 7200);
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent)
                VALUES ('acme', 'deploy', 'ci', 'ci:*', 'glob', 7200, true);
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, reason_pattern, reason_hint)
                VALUES ('acme', 'api', 'ci', 'ci:*', 'glob', 7200, 'INC-**', 'Start with the ticket, for example INC-4711.');
                """
                        .formatted(world.issuer().url()));
        world.admin(
                """
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'people', 'boss' FROM broker.access_rule WHERE NOT consent;
                INSERT INTO broker.access_approver (rule, idp, subject, program)
                SELECT id, 'people', 'gate', true FROM broker.access_rule WHERE key = 'spare'
                """);
    }

    private ClientProcess with(String token) {
        return ClientProcess.under(shell)
                .with("MINTMARK_URL", world.broker().url().toString())
                .with("MINTMARK_TOKEN", token);
    }

    private ClientProcess requester() {
        return with(world.issuer().sign("ci:" + name, World.AUDIENCE));
    }

    private ClientProcess boss() {
        return with(world.issuer().sign("boss", "mintmark-people"));
    }

    /** The id of the requester's pending request. */
    private String pending() {
        Eventually.holds(() -> !open().isEmpty());
        return open().getFirst();
    }

    private List<String> open() {
        return world.column(
                "SELECT id FROM broker.access_request WHERE status = 'pending' AND subject = 'ci:%s'"
                        .formatted(name));
    }

    @Test
    void a_denied_key_is_asked_for_approved_and_used() {
        Ended denied = requester().run("get", "spare");
        assertEquals(1, denied.exit());
        assertTrue(
                denied.err()
                        .contains(
                                "you may ask for access, run: mintmark-client request spare"
                                        + " --reason TEXT --for 1h\n"),
                denied.err());

        Process waiting =
                requester().start("request", "spare", "--reason", REASON, "--for", "2h", "--wait");
        String id = pending();
        world.assertRows(
                "SELECT reason || ' ' || access FROM broker.access_request WHERE id = '%s'"
                        .formatted(id),
                REASON + " 7200");
        Ended listed = boss().run("requests");
        assertTrue(
                listed.out()
                        .contains(
                                "decide\t%s\tspare\tci:%s\t7200 s\t%s\t"
                                        .formatted(id, name, REASON)),
                listed::toString);
        String line = listed.out().lines().filter(it -> it.contains(id)).findFirst().orElseThrow();
        String revisions = line.substring(line.lastIndexOf('\t') + 1);
        assertTrue(revisions.matches("\\d+,\\d+,\\d+"), listed::toString);
        world.assertRows(
                "SELECT settings = '%s' FROM broker.key WHERE tenant = 'acme' AND name = 'spare'"
                        .formatted(line.replaceAll(".*\tsettings ([^\t]*)\t.*", "$1")),
                "t");
        Ended own = boss().run("approve", id, "--revisions", revisions, "--note", "go \"ahead\"");
        assertTrue(own.err().contains(" with settings {\""), own.err());
        assertEquals("%s\tspare\tgranted\t1 of 1 approvals\n".formatted(id), own.out(), own.err());

        Ended waited = ClientProcess.await(waiting);
        assertEquals(0, waited.exit(), waited.err());
        assertTrue(waited.err().contains("an approver runs: mintmark-client approve " + id));
        assertTrue(waited.err().endsWith("mintmark-client: access is granted\n"), waited.err());
        assertEquals(0, requester().run("get", "spare").exit());
        assertTrue(
                requester()
                        .run("requests")
                        .out()
                        .startsWith("mine\t%s\tspare\tgranted\t".formatted(id)));
        String withdrawable = boss().run("requests").out();
        assertTrue(
                withdrawable.contains("withdraw\t%s\tspare\tci:%s\t".formatted(id, name)),
                withdrawable);
        assertTrue(withdrawable.contains("Z\t%s\n".formatted(REASON)), withdrawable);

        assertEquals(
                "%s\tspare\twithdrawn\t1 of 1 approvals\n".formatted(id),
                requester().run("withdraw", id).out());
    }

    /** The approver consents to both. */
    @Test
    void an_approver_sees_who_asks_through_whom() {
        Answer asked =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests")
                                        .header("Content-Type", "application/json")
                                        .header(
                                                "Authorization",
                                                "Bearer "
                                                        + world.issuer()
                                                                .sign("ci:" + name, World.AUDIENCE))
                                        .header(
                                                "Mintmark-Actor-Token",
                                                world.issuer().sign("agent:bot", "mintmark-agents"))
                                        .POST(
                                                BodyPublishers.ofString(
                                                        "{\"keys\":[\"spare\"],\"reason\":\"Ticket 4711\",\"seconds\":900}")));
        String id = asked.at("/requests/0/id");
        Ended listed = boss().run("requests");
        assertTrue(
                listed.out()
                        .contains(
                                "decide\t%s\tspare\tci:%s, through agent:bot (agents)\t900 s\tTicket 4711\t"
                                        .formatted(id, name)),
                listed::toString);
        Ended approved = boss().run("approve", id);
        assertTrue(
                approved.err()
                        .contains(
                                "ci:%s, through agent:bot (agents) asks for key spare ("
                                        .formatted(name)),
                approved::toString);
        assertTrue(approved.err().contains(" for 900 s: Ticket 4711"), approved::toString);
        assertEquals(
                "%s\tspare\twithdrawn\t1 of 1 approvals\n".formatted(id),
                boss().run("withdraw", id, "--note", "done").out());
        world.assertRows(
                "SELECT note FROM broker.access_decision WHERE request = '%s' AND verdict = 'withdraw'"
                        .formatted(id),
                "done");
    }

    @Test
    void a_person_consents_to_a_request_of_its_agent() throws IOException {
        Path agent =
                Files.writeString(
                        directory.resolve("agent"),
                        world.issuer().sign("agent:bot", "mintmark-agents"));
        Ended asked =
                requester()
                        .with("MINTMARK_ACTOR_TOKEN_FILE", agent.toString())
                        .run("request", "deploy", "--reason", REASON, "--for", "1h");
        assertEquals(0, asked.exit(), asked.err());
        String id = pending();
        assertTrue(
                asked.err()
                        .contains(
                                "an approver, or with consent the person alone, runs:"
                                        + " mintmark-client approve "
                                        + id),
                asked.err());
        assertEquals(1, boss().run("approve", id).exit());
        long now = Instant.now().getEpochSecond();
        Ended late =
                with(world.issuer()
                                .sign(
                                        Map.of(
                                                "sub",
                                                "ci:" + name,
                                                "aud",
                                                World.AUDIENCE,
                                                "iat",
                                                now - 302,
                                                "exp",
                                                now + 600)))
                        .run("approve", id);
        assertEquals(1, late.exit());
        assertTrue(
                late.err().contains("at most five minutes ago")
                        && late.err().contains("set MINTMARK_TOKEN to a new token\n"),
                late.err());

        Ended consented = requester().run("approve", id);
        assertEquals("%s\tdeploy\tgranted\t1 of 1 approvals\n".formatted(id), consented.out());
        assertTrue(
                consented
                        .err()
                        .contains(
                                "only ci:%s can consent to it, with a token of at most five minutes"
                                        .formatted(name)),
                consented.err());
        assertTrue(
                ClientProcess.under(shell).run("approve", "--help").out().contains("only you can"));
    }

    @Test
    void a_reason_that_does_not_match_is_refused_with_the_hint_of_the_rule() {
        Ended prose = requester().run("request", "api", "--reason", REASON, "--for", "1h");
        assertEquals(1, prose.exit());
        assertTrue(
                prose.err()
                        .startsWith(
                                "mintmark-client: The reason for access to key \"api\" must match the"
                                        + " pattern \"INC-**\". Start with the ticket, for example"
                                        + " INC-4711. (INVALID_REQUEST, request "),
                prose.err());
        Ended ticket =
                requester().run("request", "api", "--reason", "INC-4711: stuck", "--for", "1h");
        assertEquals(0, ticket.exit(), ticket.err());
    }

    @Test
    void a_program_whose_approval_is_not_enough_reads_that_people_are_missing() {
        requester().run("request", "spare", "--reason", REASON, "--for", "1h");
        String id = pending();
        Ended vote =
                with(world.issuer().sign("gate", "mintmark-people"))
                        .run("approve", id, "--note", "INC-4711");
        assertEquals(
                "%s\tspare\tpending\t1 of 1 approvals, too few of them by people\n".formatted(id),
                vote.out());
        Ended person = boss().run("approve", id);
        assertTrue(person.out().startsWith(id + "\tspare\tgranted\t"), person::toString);
    }

    @Test
    void a_refusal_ends_the_wait_with_its_note() {
        Process waiting =
                requester().start("request", "spare", "--reason", REASON, "--for", "900", "--wait");
        String id = pending();
        assertEquals(0, boss().run("refuse", id, "--note=not today").exit());
        Ended waited = ClientProcess.await(waiting);
        assertEquals(1, waited.exit());
        assertTrue(
                waited.err().contains("request %s is refused by boss: not today".formatted(id)),
                waited.err());
    }

    @Test
    void without_wait_it_prints_what_it_asked_for() {
        Ended asked = requester().run("request", "spare", "--reason=" + REASON, "--for=45m");
        assertEquals(0, asked.exit(), asked.err());
        assertEquals("%s\tspare\tpending\n".formatted(pending()), asked.out());
    }

    @Test
    void own_requests_are_not_decided_and_unknown_ones_are_told() {
        requester().run("request", "spare", "--reason", REASON, "--for", "1h");
        Ended own = requester().run("approve", pending());
        assertEquals(1, own.exit());
        assertTrue(own.err().contains("(FORBIDDEN, request "), own.err());
        Ended unknown = boss().run("refuse", UUID.randomUUID().toString());
        assertEquals(1, unknown.exit());
        assertTrue(unknown.err().contains("(NOT_FOUND, request "), unknown.err());
    }

    @Test
    void mistakes_are_told_before_anything_is_sent() {
        assertMistake("say why", "request", "spare", "--for", "1h");
        assertMistake("say for how long", "request", "spare", "--reason", REASON);
        assertMistake("name a key", "request", "--reason", REASON, "--for", "1h");
        assertMistake("--for must be a time", "request", "spare", "--for", "1w");
        assertMistake("--for must be a time", "request", "spare", "--for", "-1");
        assertMistake("name a request by its id", "approve");
        assertMistake("is not the id of a request", "approve", "../credentials/keys");
        assertMistake("name one request only", "refuse", "a", "b");
        assertMistake("unknown option", "withdraw", "a", "--revisions", "1,2,3");
    }

    private void assertMistake(String message, String... arguments) {
        Ended mistake =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", "https://localhost:1")
                        .run(arguments);
        assertEquals(2, mistake.exit(), mistake.err());
        assertTrue(mistake.err().contains(message), mistake.err());
    }
}
