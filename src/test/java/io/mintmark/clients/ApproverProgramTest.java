package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The program of docs/tenants/approve-by-program.md, between a broker and a ticket system. */
class ApproverProgramTest {
    private static final Path PROGRAM = Path.of("docs", "tenants", "approve-by-program.py");

    @TempDir Path directory;
    @AutoClose private final StandIn tickets = new StandIn();
    private World world;
    private Process program;
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = RunningBroker.freePort();
        Files.createDirectory(directory.resolve("acme"));
        Files.writeString(directory.resolve("acme/notices"), "a secret\n");
        world = new World(Map.of("SECRETS_DIR", directory.toString()));
        world.admin(
                """
                UPDATE broker.tenant SET notice_url = 'http://127.0.0.1:%2$d/', notice_secret = '{"file": "notices"}' WHERE name = 'acme';
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('bots', 'acme', '%1$s', '{mintmark-bots}', '{approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, people)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 7200, 0);
                INSERT INTO broker.access_approver (rule, idp, subject, program)
                SELECT id, 'bots', s, s = 'gate' FROM broker.access_rule, unnest('{gate,boss}'::text[]) AS s
                """
                        .formatted(world.issuer().url(), port));
        program = program();
    }

    @AfterEach
    void stop() throws InterruptedException {
        program.destroy();
        program.waitFor();
        world.close();
    }

    private Process program() throws IOException {
        Files.writeString(directory.resolve("token"), world.issuer().sign("gate", "mintmark-bots"));
        return program(directory, port, world.broker().url().toString(), tickets.url());
    }

    /** The program, with the token and the secret of notices in the files of a directory. */
    static Process program(Path directory, int port, String broker, String tickets)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder("python3", "-I", PROGRAM.toString(), Integer.toString(port))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile());
        builder.environment().clear();
        builder.environment()
                .putAll(
                        Map.of(
                                "PATH",
                                Shell.SEARCH_PATH,
                                "NOTICE_SECRET_FILE",
                                directory.resolve("acme/notices").toString(),
                                "MINTMARK_URL",
                                broker,
                                "MINTMARK_TOKEN_FILE",
                                directory.resolve("token").toString(),
                                "TICKETS_URL",
                                tickets,
                                "USED_TICKETS_DIR",
                                directory.toString()));
        return builder.start();
    }

    private void ticket(int status, String requester, String state) {
        ticket(status, requester, state, 900);
    }

    private void ticket(int status, String requester, String state, int seconds) {
        tickets.says(
                "/INC-4711",
                status,
                """
                {"key": "spare", "idp": "ci", "requester": "%s", "state": "%s", "seconds": %d, "decided_by": "desk"}
                """
                        .formatted(requester, state, seconds));
    }

    private Answer post(String path, String subject, String audience, String body) {
        HttpRequest.Builder request =
                world.broker()
                        .request(path)
                        .header("Authorization", "Bearer " + world.issuer().sign(subject, audience))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body));
        return world.broker().send(request);
    }

    private String revisions(String id) {
        return world.broker()
                .send(
                        world.broker()
                                .request("/access-requests/" + id)
                                .header(
                                        "Authorization",
                                        "Bearer " + world.issuer().sign("boss", "mintmark-bots"))
                                .GET())
                .body()
                .path("revisions")
                .toString();
    }

    private String asked() {
        return post(
                        "/access-requests",
                        "ci:eve",
                        World.AUDIENCE,
                        "{\"keys\":[\"spare\"],\"reason\":\"INC-4711: stuck\",\"seconds\":900}")
                .at("/requests/0/id");
    }

    private String decided(String id) {
        return world.value(
                """
                SELECT concat_ws('|', q.status, (SELECT concat_ws('|', d.subject, d.program, d.note) FROM broker.access_decision AS d WHERE d.request = q.id))
                  FROM broker.access_request AS q WHERE q.id = '%s'
                """
                        .formatted(id));
    }

    @ParameterizedTest
    @CsvSource({
        "approved, granted|gate|t|INC-4711 is approved by desk",
        "rejected, refused|gate|t|INC-4711 is rejected by desk"
    })
    void it_decides_as_the_ticket_says_and_is_named_as_a_program(String state, String expected) {
        ticket(200, "ci:eve", state);
        String id = asked();
        Eventually.holds(() -> decided(id).equals(expected));
    }

    @ParameterizedTest
    @CsvSource({"ci:mallory, approved, 900", "ci:eve, open, 900", "ci:eve, approved, 899"})
    void another_ticket_decides_nothing_and_a_person_can(
            String requester, String state, int seconds) {
        ticket(200, requester, state, seconds);
        String id = asked();
        Eventually.holds(() -> !tickets.asked().isEmpty());
        Eventually.holds(
                () -> world.value("SELECT count(*) FROM runtime.access_notice").equals("0"));
        assertEquals("pending", decided(id));
        post(
                "/access-requests/" + id + "/decision",
                "boss",
                "mintmark-bots",
                "{\"verdict\":\"approve\"}");
        assertEquals("granted|boss|f", decided(id));
    }

    @Test
    void a_ticket_is_for_one_request() {
        ticket(200, "ci:eve", "approved");
        String first = asked();
        Eventually.holds(() -> decided(first).startsWith("granted|gate"));
        world.admin("UPDATE broker.subject_grant SET enabled = false");
        int before = tickets.asked().size();
        String second = asked();
        Eventually.holds(() -> tickets.asked().size() > before);
        Eventually.holds(
                () -> world.value("SELECT count(*) FROM runtime.access_notice").equals("0"));
        assertEquals("pending", decided(second));
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void a_ticket_system_that_does_not_answer_now_is_asked_again(int status) {
        ticket(status, "ci:eve", "approved");
        String id = asked();
        Eventually.holds(() -> tickets.asked().size() > 1);
        assertEquals("pending", decided(id));
        ticket(200, "ci:eve", "approved");
        Eventually.holds(() -> decided(id).startsWith("granted|gate"));
    }

    @Test
    void the_broker_takes_the_decision_on_a_repeated_notice_once() {
        ticket(200, "ci:eve", "open");
        String id = asked();
        Eventually.holds(
                () -> world.value("SELECT count(*) FROM runtime.access_notice").equals("0"));
        SignedNotice notice = SignedNotice.of(id, "ci:eve", revisions(id));
        ticket(200, "ci:eve", "approved");
        Eventually.holds(() -> notice.sendTo(port) == 204 && decided(id).startsWith("granted"));
        assertEquals(204, notice.sendTo(port));
        assertEquals("granted|gate|t|INC-4711 is approved by desk", decided(id));
    }

    @Test
    void while_it_is_down_a_person_decides_and_it_changes_nothing_afterwards() throws Exception {
        program.destroy();
        program.waitFor();
        ticket(200, "ci:eve", "rejected");
        String id = asked();
        Eventually.holds(() ->
                !world.value("SELECT coalesce(max(tries), 0) FROM runtime.access_notice")
                        .equals("0"));
        post(
                "/access-requests/" + id + "/decision",
                "boss",
                "mintmark-bots",
                "{\"verdict\":\"approve\"}");
        assertEquals("granted|boss|f", decided(id));

        program = program();
        Eventually.holds(() ->
                world.value("SELECT count(*) FROM runtime.access_notice WHERE NOT access_lasts")
                        .equals("0"));
        assertFalse(tickets.asked().isEmpty());
        assertEquals("granted|boss|f", decided(id));
    }
}
