package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.TokenEndpoint;
import io.mintmark.provider.kubernetes.KubernetesStandIn;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * A cluster or a service that answers with less, more, later or never gets its reason, leaves a row
 * and gives no credential. GitHub's is in {@link GitHubBadInputTest}.
 */
class UnfitAnswersTest {
    private static final CountDownLatch OVER = new CountDownLatch(1);

    private static World world;
    private static KubernetesStandIn cluster;
    private static TokenEndpoint service;

    /** What is wrong, with the key that meets it, the kind of the row and the reason. */
    enum Wrong {
        CLUSTER_GIVES_NO_TOKEN("cluster", "failed provider_error") {
            @Override
            void arrange() {
                cluster.changing(answer -> answer.remove("status"));
            }
        },
        CLUSTER_GIVES_NO_EXPIRY("cluster", "withheld provider_error") {
            @Override
            void arrange() {
                status(status -> status.remove("expirationTimestamp"));
            }
        },
        CLUSTER_GIVES_LONGER("cluster", "withheld provider_error") {
            @Override
            void arrange() {
                status(status ->
                        status.put(
                                "expirationTimestamp", Instant.now().plusSeconds(7200).toString()));
            }
        },
        CLUSTER_SAYS_TOO_SHORT("cluster", "withheld provider_error") {
            @Override
            void arrange() {
                status(status ->
                        status.put(
                                "expirationTimestamp", Instant.now().plusSeconds(600).toString()));
            }
        },
        CLUSTER_GIVES_ANOTHER_ACCOUNTS("cluster", "withheld provider_error") {
            @Override
            void arrange() {
                status(status -> status.put("token", world.token()));
            }
        },
        CLUSTER_NEVER_ANSWERS("cluster", "failed provider_timeout") {
            @Override
            void arrange() {
                cluster.changing(_ -> awaitTheEnd());
            }
        },
        MISSING_TOKEN_FILE("by-token", "failed provider_misconfigured"),
        UNTRUSTED_AUDIENCE("elsewhere", "failed broker_identity_rejected"),
        NO_PERMISSION("unbound", "failed provider_rejected"),
        SERVICE_GIVES_NO_TOKEN("service", "failed provider_error") {
            @Override
            void arrange() {
                service.next(TokenEndpoint.saying(200, "{'token_type':'Bearer'}"));
            }
        },
        SERVICE_GIVES_NO_EXPIRY("service", "withheld provider_error") {
            @Override
            void arrange() {
                service.next(
                        TokenEndpoint.saying(200, "{'access_token':'t','token_type':'Bearer'}"));
            }
        },
        SERVICE_GIVES_LONGER("service", "withheld provider_error") {
            @Override
            void arrange() {
                service.next(
                        TokenEndpoint.saying(
                                200,
                                "{'access_token':'t','token_type':'Bearer','expires_in':7200}"));
            }
        },
        SERVICE_GIVES_AN_ERROR_TOO("service", "withheld provider_error") {
            @Override
            void arrange() {
                service.next(
                        TokenEndpoint.saying(
                                200,
                                "{'access_token':'t','token_type':'Bearer','expires_in':300,'error':'x'}"));
            }
        },
        SERVICE_TRUSTS_NOBODY("service", "failed broker_identity_rejected") {
            @Override
            void arrange() {
                service.next(TokenEndpoint.refusing(401, "invalid_grant", "no trust"));
            }
        },
        SERVICE_NEVER_ANSWERS("service", "failed provider_timeout") {
            @Override
            void arrange() {
                service.next(service.hanging());
            }
        };

        private final String key;
        private final String row;

        Wrong(String key, String row) {
            this.key = key;
            this.row = row;
        }

        void arrange() {}
    }

    private static void status(Consumer<ObjectNode> change) {
        cluster.changing(answer -> change.accept((ObjectNode) answer.get("status")));
    }

    private static void awaitTheEnd() {
        Unchecked.await(OVER);
    }

    @BeforeAll
    static void start(@TempDir Path secrets) {
        world =
                new World(
                        Map.of(
                                "BROKER_ISSUER",
                                MintingBroker.ISSUER,
                                "SECRETS_DIR",
                                secrets.toString(),
                                "PROVIDER_TIMEOUT",
                                "PT6S"));
        cluster = new KubernetesStandIn(world.broker()::keySet);
        service =
                new TokenEndpoint(
                        _ -> Map.of("access_token", "t", "token_type", "Bearer", "expires_in", 300),
                        true);
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES
                    ('acme', 'cluster', 'kubernetes', '{"server": "%1$s"}'),
                    ('acme', 'elsewhere', 'kubernetes', '{"server": "%1$s", "audience": "elsewhere"}'),
                    ('acme', 'by-token', 'kubernetes',
                     '{"server": "%1$s", "auth": "token", "token": {"file": "missing"}}'),
                    ('acme', 'service', 'oauth2',
                     '{"token_endpoint": "%2$s", "grant": "jwt-bearer", "body": "json"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES
                    ('acme', 'cluster', 'cluster', 3600, '{"service_account": "shop/deployer"}'),
                    ('acme', 'unbound', 'cluster', 3600, '{"service_account": "shop/other"}'),
                    ('acme', 'elsewhere', 'elsewhere', 3600, '{"service_account": "shop/deployer"}'),
                    ('acme', 'by-token', 'by-token', 3600, '{"service_account": "shop/deployer"}'),
                    ('acme', 'service', 'service', 3600, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%3$s', name FROM broker.key WHERE provider NOT IN ('aws', 'own');
                """
                        .formatted(cluster.url(), service.origin(), World.SUBJECT));
        for (String key : List.of("cluster", "service")) {
            Eventually.holds(() -> world.broker().mint(world.token(), key).status() == 200);
        }
    }

    @AfterAll
    static void stop() {
        OVER.countDown();
        service.close();
        cluster.close();
        world.close();
    }

    @ParameterizedTest
    @EnumSource
    void it_has_its_reason_and_leaves_a_row_and_no_credential(Wrong wrong) {
        wrong.arrange();

        Answer answer = world.broker().mint(world.token(), wrong.key);

        assertEquals("500 CREDENTIAL_MINT_FAILED " + wrong.row.split(" ", 2)[1], answer.verdict());
        assertTrue(answer.body().path("credentials").isMissingNode(), answer::toString);
        world.assertRows(
                """
                SELECT kind || ' ' || reason FROM audit.event
                 WHERE request_id = '%s' AND step = 2 AND reason <> 'decided_again'
                """
                        .formatted(answer.header("X-Request-ID")),
                wrong.row);
    }
}
