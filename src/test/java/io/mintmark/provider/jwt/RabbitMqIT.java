package io.mintmark.provider.jwt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.TlsFront;
import io.mintmark.endtoend.World;
import io.mintmark.provider.jwt.RabbitMq.Ran;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/** Tokens of type {@code jwt} at a real RabbitMQ, set up by docs/providers/services.md. */
class RabbitMqIT {
    private static final String KEYS =
            """
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES
                ('acme', 'writer', 'rabbitmq', 600,
                 '{"audience": "rabbitmq.acme.example", "claims": {"scope": "rabbitmq.acme.example.write:shop/orders"}}'),
                ('acme', 'scopeless', 'rabbitmq', 600, '{"audience": "rabbitmq.acme.example", "claims": {"scope": "read"}}'),
                ('acme', 'elsewhere', 'own', 600,
                 '{"audience": "https://elsewhere.example", "claims": {"scope": "rabbitmq.acme.example.read:shop/orders"}}'),
                ('acme', 'brief', 'rabbitmq', 8,
                 '{"audience": "rabbitmq.acme.example",
                   "claims": {"scope": "rabbitmq.acme.example.write:shop/orders rabbitmq.acme.example.read:shop/orders"}}');
            INSERT INTO broker.tenant (name) VALUES ('other');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            SELECT 'ci-of-other', 'other', i.issuer, '{mintmark-other}'
              FROM broker.identity_provider i WHERE i.name = 'ci';
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('other', 'own', 'jwt');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('other', 'theirs', 'own', 600,
                    '{"audience": "rabbitmq.acme.example", "claims": {"scope": "rabbitmq.acme.example.read:shop/orders"}}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            SELECT 'acme', 'ci', '%1$s', name FROM broker.key
             WHERE tenant = 'acme' AND name IN ('order-queue', 'writer', 'scopeless', 'elsewhere', 'brief');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('other', 'ci-of-other', '%1$s', 'theirs');
            """
                    .formatted(World.SUBJECT);

    @AutoClose private static TlsFront front;
    @AutoClose private static World world;
    @AutoClose private static RabbitMq rabbit;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        var authority = new Authority();
        front = new TlsFront(authority);
        world = new World(Map.of("BROKER_ISSUER", front.url()));
        front.before(world.broker().url());
        world.admin(Documented.recipe("provider_rabbitmq") + KEYS);
        Path roots = Files.writeString(work.resolve("roots.pem"), authority.pem());
        rabbit =
                new RabbitMq(
                        work,
                        Documented.blocks("providers/services.md", "ini")
                                .getFirst()
                                .replace("https://BROKER", front.url())
                                .replace("/etc/ssl/certs/ca-certificates.crt", roots.toString()));
    }

    private static String token(String key) {
        Answer answer = world.broker().mint(world.token(), key);
        assertEquals(200, answer.status(), answer.toString());
        return answer.at("/credentials/%s/ACCESS_TOKEN".formatted(key));
    }

    private static Ran publish(String token, String message) throws Exception {
        return rabbit.with(token, "shop", "amqp-publish", "--exchange=orders", "--body=" + message);
    }

    private static Ran read(String token, String vhost, String queue) throws Exception {
        return rabbit.with(token, vhost, "amqp-get", "--queue=" + queue);
    }

    private static void assertRefused(Ran ran, String why) {
        assertTrue(ran.status() != 0 && ran.said().contains(why), ran.toString());
    }

    @Test
    void a_minted_token_logs_in_and_its_scopes_are_permissions() throws Exception {
        String token = token("order-queue");

        assertEquals(new Ran(0, ""), publish(token, "one order"));
        Eventually.holds(() -> {
            return Unchecked.call(
                    () -> read(token, "shop", "orders").equals(new Ran(0, "one order")));
        });
        Eventually.holds(() ->
                rabbit.log()
                        .contains(
                                "user 'ci:ci:main' authenticated and granted access to vhost"
                                        + " 'shop'"));
    }

    @Test
    void what_no_scope_names_is_refused() throws Exception {
        assertRefused(read(token("order-queue"), "shop", "salaries"), "ACCESS_REFUSED");
        assertRefused(read(token("writer"), "shop", "orders"), "ACCESS_REFUSED");
    }

    @Test
    void a_virtual_host_that_no_scope_names_is_refused() throws Exception {
        assertRefused(read(token("order-queue"), "other", "orders"), "NOT_ALLOWED");
        assertRefused(read(token("scopeless"), "shop", "orders"), "NOT_ALLOWED");
    }

    @Test
    void a_token_for_another_audience_is_refused() throws Exception {
        assertRefused(read(token("elsewhere"), "shop", "orders"), "Login was refused");
    }

    @Test
    void an_expired_token_is_refused_and_a_connection_stays_open() throws Exception {
        String token = token("brief");
        Instant end = Instant.now().plusSeconds(8);
        Process consumer =
                rabbit.process(token, "shop", "amqp-consume", "--queue=orders", "--count=1", "cat");
        try {
            Eventually.holds(() -> Instant.now().isAfter(end));

            assertRefused(publish(token, "too late"), "Login was refused");
            Eventually.holds(() -> rabbit.log().contains("Provided JWT token has expired"));
            assertTrue(consumer.isAlive());
            assertEquals(new Ran(0, ""), publish(token("writer"), "after the end"));
            try (BufferedReader reader = consumer.inputReader()) {
                assertEquals("after the end", reader.readLine());
            }
        } finally {
            consumer.destroy();
        }
    }

    /** So the page tells admins to restrict allowed_targets of all tenants. */
    @Test
    void rabbitmq_does_not_compare_the_issuer() throws Exception {
        Answer answer =
                world.broker().mint(world.issuer().sign(World.SUBJECT, "mintmark-other"), "theirs");
        String token = answer.at("/credentials/theirs/ACCESS_TOKEN");

        Ran ran = read(token, "shop", "orders");

        assertFalse(ran.said().contains("refused"), ran.said());
    }
}
