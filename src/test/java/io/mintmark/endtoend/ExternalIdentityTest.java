package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.broker.identity.IdpStandIn;
import io.mintmark.provider.sts.StsCall;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A broker whose identity comes from elsewhere: the provider trusts that issuer, all tenants look
 * alike to it, and so only providers that share an identity are served.
 */
class ExternalIdentityTest {
    private static final Map<Type, External> BROKERS = new EnumMap<>(Type.class);
    private static final AtomicInteger REQUESTS = new AtomicInteger();

    enum Type {
        CLIENT_CREDENTIALS,
        TOKEN_FILE
    }

    /** An issuer, a provider that trusts it, and a broker that is the issuer's client. */
    private static final class External implements AutoCloseable {
        private final IdpStandIn idp = IdpStandIn.start();
        private final StsStandIn aws =
                StsStandIn.aws(idp.url(), () -> idp.pages().jwks(), "sts.amazonaws.com");
        private final Path file;
        private final World world;

        External(Type type) {
            file = Unchecked.call(() -> Files.createTempFile("mintmark", "token"));
            project();
            world = new World(settings(type));
            world.admin(
                    """
                    INSERT INTO broker.access_provider
                           (tenant, name, type, settings, shared_identity, allowed_targets)
                    VALUES ('acme', 'shared', 'aws-sts',
                            '{"region": "eu-central-1", "endpoint": "%1$s"}',
                            true, '{arn:aws:iam::123456789012:role/acme-*}'),
                           ('acme', 'alone', 'aws-sts',
                            '{"region": "eu-central-1", "endpoint": "%1$s"}',
                            false, '{arn:aws:iam::123456789012:role/acme-*}'),
                           ('acme', 'evil', 'aws-sts',
                            '{"region": "eu-central-1", "endpoint": "https://sts.evil.invalid"}',
                            true, '{arn:aws:iam::123456789012:role/acme-*}'),
                           ('acme', 'ambient', 'aws-sts',
                            '{"region": "eu-central-1", "endpoint": "%1$s", "auth": "ambient"}',
                            true, '{arn:aws:iam::123456789012:role/acme-*}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    SELECT 'acme', provider, provider, 3600,
                           '{"role_arn": "arn:aws:iam::123456789012:role/acme-deploy"}'
                      FROM unnest(ARRAY['shared', 'alone', 'evil', 'ambient']) AS provider;
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    SELECT 'acme', 'ci', 'ci:main', key
                      FROM unnest(ARRAY['shared', 'alone', 'evil', 'ambient']) AS key;
                    """
                            .formatted(aws.endpoint()));
        }

        private Map<String, String> settings(Type type) {
            Map<String, String> settings = new HashMap<>();
            switch (type) {
                case CLIENT_CREDENTIALS -> {
                    settings.put("BROKER_IDP_TYPE", "client-credentials");
                    settings.put("BROKER_IDP_ISSUER", idp.url());
                    settings.put("BROKER_IDP_CLIENT_ID", IdpStandIn.CLIENT);
                    settings.put("BROKER_IDP_CLIENT_SECRET", IdpStandIn.SECRET);
                }
                case TOKEN_FILE -> {
                    settings.put("BROKER_IDP_TYPE", "token-file");
                    settings.put("BROKER_IDP_TOKEN_FILE", file.toString());
                }
            }
            return settings;
        }

        /** Puts a new token into the file. */
        final String project() {
            String token = idp.pages().sign("system:serviceaccount:x:broker", "sts.amazonaws.com");
            try {
                Files.writeString(file, token);
                return token;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Mints a key, and tells what the audit log says of it. */
        String mint(String key) {
            String request = "external-" + REQUESTS.incrementAndGet();
            world.broker()
                    .post(
                            "{\"keys\":[\"" + key + "\"]}",
                            "Authorization",
                            "Bearer " + world.token(),
                            "X-Request-ID",
                            request);
            return world.value(
                    "SELECT concat_ws(' ', kind, reason, detail) FROM audit.event"
                            + " WHERE step = 2 AND request_id = '"
                            + request
                            + "'");
        }

        @Override
        public void close() {
            world.close();
            aws.close();
            idp.close();
        }
    }

    @BeforeAll
    static void start() {
        for (Type type : Type.values()) {
            BROKERS.put(type, new External(type));
        }
    }

    @AfterAll
    static void stop() {
        BROKERS.values().forEach(External::close);
    }

    private static External broker(Type type) {
        return Objects.requireNonNull(BROKERS.get(type));
    }

    @ParameterizedTest
    @EnumSource
    void aws_is_shown_the_token_of_the_issuer_that_it_trusts(Type type) {
        External broker = broker(type);

        assertEquals("issued", broker.mint("shared"));

        StsCall call = broker.aws.calls().getLast();
        assertEquals("AssumeRoleWithWebIdentity", call.parameter("Action").orElseThrow());
        assertTrue(call.parameter("WebIdentityToken").isPresent());
    }

    @ParameterizedTest
    @EnumSource
    void a_provider_that_does_not_share_an_identity_is_not_served(Type type) {
        External broker = broker(type);
        int before = broker.aws.calls().size();

        assertEquals(
                "failed provider_misconfigured the broker's identity is the same for all tenants"
                        + ", but access provider 'alone' doesn't have shared_identity",
                broker.mint("alone"));
        assertEquals(before, broker.aws.calls().size());
    }

    @ParameterizedTest
    @EnumSource
    void a_token_for_aws_is_not_sent_to_anybody_else(Type type) {
        assertEquals(
                "failed provider_misconfigured the broker's token comes from an external identity"
                        + " provider, and its audience 'sts.amazonaws.com' belongs to AWS,"
                        + " but https://sts.evil.invalid is neither a host of that vendor nor listed in"
                        + " OUTBOUND_ALLOWED_HOSTS",
                broker(type).mint("evil"));
    }

    @ParameterizedTest
    @EnumSource
    void keys_outside_the_allowed_targets_are_refused_when_they_are_written(Type type) {
        External broker = broker(type);

        Exception refused =
                assertThrows(
                        Exception.class,
                        () ->
                                broker.world.admin(
                                        """
                                        INSERT INTO broker.key
                                               (tenant, name, provider, max_duration, settings)
                                        VALUES ('acme', 'root', 'shared', 3600,
                                                '{"role_arn": "arn:aws:iam::123456789012:role/root"}')
                                        """));

        assertTrue(String.valueOf(refused.getCause()).contains("does not allow"));
    }

    @ParameterizedTest
    @EnumSource
    void ambient_works_beside_it(Type type) {
        System.setProperty("aws.accessKeyId", "AKIAAMBIENT");
        System.setProperty("aws.secretAccessKey", "the-ambient-secret");
        try {
            External broker = broker(type);

            assertEquals("issued", broker.mint("ambient"));

            StsCall call = broker.aws.calls().getLast();
            assertEquals("AssumeRole", call.parameter("Action").orElseThrow());
            assertTrue(call.parameter("WebIdentityToken").isEmpty());
            assertEquals(
                    broker.world.column(
                            "SELECT external_id FROM broker.tenant WHERE name = 'acme'"),
                    List.of(call.parameter("ExternalId").orElseThrow()));
        } finally {
            System.clearProperty("aws.accessKeyId");
            System.clearProperty("aws.secretAccessKey");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_brokers_own_keys_still_sign_access_tokens(Type type) {
        External broker = broker(type);

        assertEquals("issued", broker.mint("api"));
        assertEquals(200, broker.world.broker().get("/.well-known/jwks.json").status());
        assertEquals("healthy", broker.world.broker().get("/health").at("/checks/broker_idp"));
    }

    @Test
    void a_token_that_the_platform_replaces_is_shown_from_the_next_mint_on() {
        External broker = broker(Type.TOKEN_FILE);
        for (int i = 0; i < 3; i++) {
            String token = broker.project();
            assertEquals("issued", broker.mint("shared"));
            assertEquals(
                    token,
                    broker.aws.calls().getLast().parameter("WebIdentityToken").orElseThrow());
        }
    }

    @Test
    void one_token_serves_many_mints() {
        External broker = broker(Type.CLIENT_CREDENTIALS);
        for (int i = 0; i < 3; i++) {
            assertEquals("issued", broker.mint("shared"));
        }
        assertEquals(1, broker.idp.requests().size());
    }
}
