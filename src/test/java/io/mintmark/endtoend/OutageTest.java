package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;

class OutageTest {
    @AutoClose private World world;

    @BeforeEach
    void start() {
        world = new World();
        Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
    }

    @Test
    void without_its_database_the_broker_says_so_hands_out_nothing_and_recovers_by_itself() {
        int calls = world.sts().calls().size();
        world.database().shutTheServiceOut();
        Answer answer = world.broker().mint(world.token(), "deploy");
        assertEquals("503 SERVICE_UNAVAILABLE ", answer.verdict());
        assertTrue(answer.body().at("/retryAfter").intValue() >= 1);
        assertEquals(answer.at("/retryAfter"), answer.header("Retry-After"));
        assertEquals(calls, world.sts().calls().size());
        Eventually.holds(() -> world.broker().get("/health").status() == 503);
        Answer health = world.broker().get("/health");
        assertEquals("unhealthy", health.at("/checks/database"));
        assertEquals("healthy", health.at("/checks/broker_idp"));
        assertTrue(health.texts("/errors").toString().contains("database"));
        world.database().letTheServiceIn();
        Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
        Eventually.holds(() -> world.broker().get("/health").status() == 200);
    }

    @Test
    void a_credential_whose_row_can_not_be_committed_is_not_handed_out() {
        world.database()
                .runAsSuperuser(
                        """
                        CREATE FUNCTION audit.no_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN
                            RAISE EXCEPTION 'no' USING ERRCODE = 'admin_shutdown';
                        END $$;
                        CREATE TRIGGER no_outcome BEFORE INSERT ON log.event
                        FOR EACH ROW WHEN (NEW.kind = 'issued')
                        EXECUTE FUNCTION audit.no_outcome();
                        """);
        Answer answer = world.broker().mint(world.token(), "deploy");
        assertEquals("503 SERVICE_UNAVAILABLE ", answer.verdict());
        Eventually.holds(() ->
                world.audited("key = 'deploy'")
                        .equals(List.of("requested deploy", "withheld deploy audit_unavailable")));
    }

    @Test
    void a_row_that_is_refused_takes_no_other_request_along() {
        world.database()
                .runAsSuperuser(
                        """
                        ALTER TABLE log.event ADD CONSTRAINT no_evil
                              CHECK (user_agent IS DISTINCT FROM 'evil')
                        """);
        List<CompletableFuture<Answer>> good =
                java.util.stream.IntStream.range(0, 20)
                        .mapToObj(_ ->
                                CompletableFuture.supplyAsync(
                                        () -> world.broker().mint(world.token(), "api")))
                        .toList();
        Answer evil =
                world.broker()
                        .post(
                                "{\"keys\":[\"api\"]}",
                                "Authorization",
                                "Bearer " + world.token(),
                                "User-Agent",
                                "evil");
        assertEquals("503 SERVICE_UNAVAILABLE ", evil.verdict());
        good.forEach(answer -> assertEquals(200, answer.join().status()));
    }

    @Test
    void a_client_that_hangs_up_leaves_no_mint_unrecorded() throws IOException {
        world.sts().next(new StsAnswer.AsAsked());
        String body = "{\"keys\":[\"deploy\"]}";
        String request =
                """
                POST /credentials/mint HTTP/1.1\r
                Host: localhost\r
                Content-Type: application/json\r
                X-Request-ID: hung-up\r
                Authorization: Bearer %s\r
                Content-Length: %d\r
                \r
                %s\
                """
                        .formatted(world.token(), body.length(), body);
        try (Socket socket = new Socket("localhost", world.broker().url().getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(request.getBytes(StandardCharsets.US_ASCII));
            out.flush();
            socket.setSoLinger(true, 0);
        }
        Eventually.holds(() ->
                world.audited("request_id = 'hung-up'")
                        .equals(List.of("requested deploy", "issued deploy")));
    }

    @Test
    void text_that_postgresql_can_not_hold_is_replaced_and_cut_and_loses_no_row() {
        String subject = "ci:\uD83D\uDE00" + "x".repeat(1000);
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims)
                VALUES ('acme', 'ci', 'ci:**', 'glob', 'api', '{"ref": {"glob": "m**"}}')
                """);
        String token =
                world.issuer()
                        .sign(
                                java.util.Map.of(
                                        "sub",
                                        subject,
                                        "aud",
                                        World.AUDIENCE,
                                        "ref",
                                        "m\u0000\uD800" + "y".repeat(5000)));
        Eventually.holds(() -> world.broker().mint(token, "api").status() == 200);
    }
}
