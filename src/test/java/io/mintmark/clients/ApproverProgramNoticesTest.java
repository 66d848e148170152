package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/** Which notices the program of docs/tenants/approve-by-program.md takes, and how it answers. */
class ApproverProgramNoticesTest {
    private static final String ID = "6f1cd1a8-0000-4000-8000-000000000000";
    private static final String DECISION = "/access-requests/" + ID + "/decision";
    private static final String REVISIONS = "{\"rule\": 1, \"key\": 2, \"accessProvider\": 3}";

    @TempDir Path directory;
    @AutoClose private final StandIn tickets = new StandIn();
    @AutoClose private final StandIn broker = new StandIn();
    private final SignedNotice notice = SignedNotice.of(ID, "ci:eve", REVISIONS);
    private Process program;
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = RunningBroker.freePort();
        Files.createDirectory(directory.resolve("acme"));
        Files.writeString(directory.resolve("acme/notices"), SignedNotice.SECRET + "\n");
        Files.writeString(directory.resolve("token"), "a.b.c");
        tickets.says(
                "/INC-4711",
                200,
                """
                {"key": "spare", "idp": "ci", "requester": "ci:eve", "state": "approved", "seconds": 900, "decided_by": "desk"}
                """);
        program = ApproverProgramTest.program(directory, port, broker.url(), tickets.url());
        Eventually.holds(this::listens);
    }

    private boolean listens() {
        try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        program.destroy();
        program.waitFor();
    }

    private void assertRejected(SignedNotice wrong) {
        assertEquals(401, wrong.sendTo(port));
        assertEquals(0, tickets.asked().size() + broker.asked().size());
    }

    @Test
    void a_signed_notice_leads_to_a_decision_on_the_revisions_of_the_notice() {
        broker.says(DECISION, 200, "{}");
        assertEquals(204, notice.sendTo(port));
        StandIn.Asked decision = broker.asked().getFirst();
        assertEquals(
                "{\"verdict\": \"approve\", \"note\": \"INC-4711 is approved by desk\", \"revisions\": %s}"
                        .formatted(REVISIONS),
                decision.body());
        assertEquals("Bearer a.b.c", decision.header("Authorization").orElseThrow());
    }

    @Test
    void a_forged_notice_is_rejected_before_anything_is_asked() {
        assertRejected(SignedNotice.signed(notice.body(), Instant.now(), "another secret"));
        assertRejected(notice.withBody(notice.body().replace("ci:eve", "ci:mallory")));
        assertRejected(new SignedNotice(notice.body(), "v1=" + "0".repeat(64)));
        assertRejected(new SignedNotice(notice.body(), "none"));
    }

    @Test
    void a_notice_of_another_time_is_rejected() {
        for (int seconds : new int[] {-301, 310}) {
            assertRejected(
                    SignedNotice.signed(
                            notice.body(),
                            Instant.now().plusSeconds(seconds),
                            SignedNotice.SECRET));
        }
        broker.says(DECISION, 200, "{}");
        assertEquals(
                204,
                SignedNotice.signed(
                                notice.body(), Instant.now().minusSeconds(290), SignedNotice.SECRET)
                        .sendTo(port));
    }

    @Test
    void a_repeated_notice_gets_the_same_answer_though_the_request_is_decided() {
        broker.says(DECISION, 200, "{}").says(DECISION, 409, "{\"error\": \"CONFLICT\"}");
        assertEquals(204, notice.sendTo(port));
        assertEquals(204, notice.sendTo(port));
        assertEquals(2, broker.asked().size());
        assertEquals(broker.asked().get(0).body(), broker.asked().get(1).body());
    }

    @Test
    void a_repeated_notice_of_another_request_with_the_same_ticket_decides_nothing() {
        broker.says(DECISION, 200, "{}");
        assertEquals(204, notice.sendTo(port));
        SignedNotice other =
                SignedNotice.signed(
                        notice.body().replace("6f1cd1a8", "7f1cd1a8"),
                        Instant.now(),
                        SignedNotice.SECRET);
        assertEquals(204, other.sendTo(port));
        assertEquals(1, broker.asked().size());
    }

    @Test
    void a_broker_that_limits_the_program_gets_502_and_the_decision_with_the_next_notice() {
        broker.says(DECISION, 429, "{\"error\": \"RATE_LIMITED\"}").says(DECISION, 200, "{}");
        assertEquals(502, notice.sendTo(port));
        assertEquals(204, notice.sendTo(port));
        assertEquals(2, broker.asked().size());
    }
}
