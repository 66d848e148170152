package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.githubapp.GitHubStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

/** Whatever is wrong with a GitHub App gets its reason and leaves a row, and no token. */
class GitHubBadInputTest {
    private static final KeyPair APP = RsaPairs.next(2048);

    @TempDir static Path secrets;

    @AutoClose private static World world;
    @AutoClose private static GitHubStandIn github;

    /** What is wrong, with the reason for the client and the kind of the row. */
    enum Wrong {
        MISSING_PRIVATE_KEY("failed provider_misconfigured") {
            @Override
            void arrange() throws IOException {
                Files.delete(privateKey());
            }
        },
        UNREADABLE_PRIVATE_KEY("failed provider_misconfigured") {
            @Override
            void arrange() throws IOException {
                Files.writeString(privateKey(), "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n");
            }
        },
        ANOTHER_APPS_PRIVATE_KEY("failed broker_identity_rejected") {
            @Override
            void arrange() throws IOException {
                Files.writeString(privateKey(), KeyDirectory.pkcs8(RsaPairs.next(2048)));
            }
        },
        PERMISSION_NOT_GRANTED("failed provider_rejected") {
            @Override
            String key() {
                return "admin";
            }
        },
        UNKNOWN_REPOSITORY("failed provider_misconfigured") {
            @Override
            String key() {
                return "unknown";
            }
        },
        SUSPENDED_INSTALLATION("failed provider_rejected") {
            @Override
            void arrange() {
                github.suspend(true);
            }
        },
        CLOCK_AHEAD("failed broker_identity_rejected") {
            @Override
            void arrange() {
                github.ahead(Duration.ofMinutes(10));
            }
        },
        CLOCK_BEHIND("failed broker_identity_rejected") {
            @Override
            void arrange() {
                github.ahead(Duration.ofMinutes(-2));
            }
        },
        LESS_THAN_ASKED("withheld provider_error") {
            @Override
            void arrange() {
                github.next(
                        GitHubStandIn.changing(answer ->
                                ((ObjectNode) answer.get("permissions")).remove("contents")));
            }
        },
        MORE_THAN_ASKED("withheld provider_error") {
            @Override
            void arrange() {
                github.next(
                        GitHubStandIn.changing(answer ->
                                ((ObjectNode) answer.get("permissions"))
                                        .put("administration", "write")));
            }
        },
        LONGER_THAN_ASKED("withheld provider_error") {
            @Override
            void arrange() {
                github.next(
                        GitHubStandIn.changing(answer ->
                                answer.put(
                                        "expires_at", Instant.now().plusSeconds(7200).toString())));
            }
        },
        NO_EXPIRY("withheld provider_error") {
            @Override
            void arrange() {
                github.next(GitHubStandIn.changing(answer -> answer.remove("expires_at")));
            }
        },
        NO_TOKEN("failed provider_error") {
            @Override
            void arrange() {
                github.next(GitHubStandIn.saying(201, "{}"));
            }
        },
        NO_ANSWER("failed provider_timeout") {
            @Override
            void arrange() {
                github.next(GitHubStandIn.hanging());
            }
        };

        private final String row;

        Wrong(String row) {
            this.row = row;
        }

        void arrange() throws IOException {}

        String key() {
            return "shop";
        }
    }

    @BeforeAll
    static void start() throws IOException {
        github = new GitHubStandIn((RSAPublicKey) APP.getPublic(), "");
        world = new World(Map.of("SECRETS_DIR", secrets.toString(), "PROVIDER_TIMEOUT", "PT6S"));
        Files.createDirectory(secrets.resolve("acme"));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'github', 'github-app',
                        '{"client_id": "%1$s", "private_key": {"file": "app.pem"},
                          "installation_id": "%2$s", "api_url": "%3$s"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES
                    ('acme', 'shop', 'github', 3600,
                     '{"repositories": ["shop"], "permissions": {"contents": "read"}}'),
                    ('acme', 'admin', 'github', 3600,
                     '{"repositories": ["shop"], "permissions": {"administration": "write"}}'),
                    ('acme', 'unknown', 'github', 3600,
                     '{"repositories": ["unknown"], "permissions": {"contents": "read"}}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%4$s', k.name FROM broker.key AS k WHERE k.provider = 'github';
                """
                        .formatted(
                                GitHubStandIn.CLIENT_ID,
                                GitHubStandIn.INSTALLATION,
                                github.url(),
                                World.SUBJECT));
        Eventually.holds(() -> world.broker().keys(world.token()).toString().contains("unknown"));
    }

    @BeforeEach
    void mend() throws IOException {
        Files.writeString(privateKey(), KeyDirectory.pkcs8(APP));
        github.suspend(false);
        github.ahead(Duration.ZERO);
    }

    private static Path privateKey() {
        return secrets.resolve("acme/app.pem");
    }

    @ParameterizedTest
    @EnumSource
    void it_has_its_reason_and_leaves_a_row_and_no_token(Wrong wrong) throws IOException {
        wrong.arrange();

        Answer answer = world.broker().mint(world.token(), wrong.key());

        assertEquals("500 CREDENTIAL_MINT_FAILED " + wrong.row.split(" ", 2)[1], answer.verdict());
        world.assertRows(
                """
                SELECT kind || ' ' || reason FROM audit.event
                 WHERE request_id = '%s' AND step = 2 AND reason <> 'decided_again'
                """
                        .formatted(answer.header("X-Request-ID")),
                wrong.row);
        Eventually.holds(() -> github.live().equals(Set.of()));
    }
}
