package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Access that is given back with a certificate in hand: what the broker and its client say. */
class WithdrawnAccessTest {
    @TempDir static Path secrets;
    private static World world;

    @BeforeAll
    static void start() throws IOException {
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/ca"), Ca.of("EC", Duration.ofDays(1)).key());
        world = new World(Map.of("SECRETS_DIR", secrets.toString()));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'web', 'ci', 'ci:*', 'glob', 0, 7200, true),
                       ('acme', 'spare', 'ci', 'ci:*', 'glob', 0, 7200, true)
                """);
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static ClientProcess client(String token) {
        return ClientProcess.under(Shell.tested().findFirst().orElseThrow())
                .with("MINTMARK_URL", world.broker().url().toString())
                .with("MINTMARK_TOKEN", token);
    }

    /** The first column of what the client prints. */
    private static String id(Ended ended) {
        return ended.out().substring(0, ended.out().indexOf('\t'));
    }

    private static Ended withdrawn(String token, String key) {
        Ended asked =
                client(token)
                        .run(
                                "request",
                                key,
                                "--break-glass",
                                "--reason",
                                "Incident 12",
                                "--for",
                                "1h");
        assertEquals(0, asked.exit(), asked.err());
        Eventually.holds(() -> world.broker().mint(token, key).status() == 200);
        return client(token).run("withdraw", id(asked));
    }

    @Test
    void a_certificate_is_revoked_and_the_answer_says_so() {
        String token = world.issuer().sign("ci:ops", World.AUDIENCE);
        Ended ended = withdrawn(token, "web");
        assertTrue(
                ended.err().contains("ssh credential ")
                        && ended.err().contains(" is on the revocation list"),
                ended::toString);
        Answer shown =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests/" + id(ended))
                                        .header("Authorization", "Bearer " + token)
                                        .GET());
        assertEquals("revoked", shown.at("/credentials/0/state"), shown::toString);
        world.assertRows(
                "SELECT mint_id FROM broker.ended_credential", shown.at("/credentials/0/mintId"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    ended      | ended
                    ending     | is being ended
                    revoked    | is on the revocation list: servers that read it refuse it
                    lasts      | ends at 2026-01-01T00:10:00Z by itself
                    cannot_end | cannot be ended early; it ends at 2026-01-01T00:10:00Z by itself
                    unheard-of | ends at 2026-01-01T00:10:00Z by itself
                    """)
    void the_client_says_of_each_credential_what_becomes_of_it(String state, String words) {
        String id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        try (StandIn broker = new StandIn()) {
            broker.says(
                    "/access-requests/" + id,
                    200,
                    """
                    {"id": "%s", "key": "web", "status": "withdrawn", "approvals": 1, "approvalsNeeded": 1,
                     "credentials": [{"mintId": "0199", "type": "ssh", "state": "%s", "expiresAt": "2026-01-01T00:10:00Z"}]}
                    """
                            .formatted(id, state));
            Ended ended =
                    ClientProcess.under(Shell.tested().findFirst().orElseThrow())
                            .with("MINTMARK_URL", broker.url())
                            .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc")
                            .run("withdraw", id);
            assertEquals("mintmark-client: ssh credential 0199 %s\n".formatted(words), ended.err());
        }
    }

    @Test
    void a_token_cannot_be_ended_and_the_client_says_until_when_it_works() {
        Ended ended = withdrawn(world.issuer().sign("ci:dev", World.AUDIENCE), "spare");
        assertEquals(0, ended.exit(), ended.err());
        assertTrue(ended.err().contains(" cannot be ended early; it ends at "), ended::toString);
    }
}
