package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.webhook.WebhookStandIn;
import io.mintmark.provider.webhook.WebhookStandIn.Call;
import io.mintmark.provider.webhook.WebhookStandIn.Fault;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;

/** Type {@code webhook} through a whole broker, from rows in its database. */
class WebhookMintsTest {
    @AutoClose private static World world;
    @AutoClose private static WebhookStandIn honest;
    @AutoClose private static WebhookStandIn liar;

    @BeforeAll
    static void start() {
        world = new World();
        honest = service();
        liar = service().having(Fault.FIXED_LIFETIME);
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'apps', 'webhook', '{"endpoint": "%s", "fields": ["APP_USER", "APP_PASSWORD"]}'),
                       ('acme', 'lies', 'webhook', '{"endpoint": "%s", "fields": ["APP_USER"]}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs)
                VALUES ('acme', 'app', 'apps', 600, '{"target": "a"}', '{}'),
                       ('acme', 'renamed', 'apps', 600, '{"target": "a"}',
                        '{"DB_PASSWORD": "APP_PASSWORD", "DB_EXPIRY": "Expiration"}'),
                       ('acme', 'long', 'lies', 600, '{"target": "a"}', '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%s', name FROM broker.key WHERE provider IN ('apps', 'lies');
                """
                        .formatted(honest.url(), liar.url(), World.SUBJECT));
        Eventually.holds(() ->
                world.broker().keys(world.token()).body().path("keys").toString().contains("long"));
    }

    private static WebhookStandIn service() {
        return new WebhookStandIn(world.broker().url().toString(), world.broker()::keySet);
    }

    @Test
    void a_client_gets_each_field_by_its_own_name() {
        Answer answer = world.broker().mint(world.token(), "app");

        assertEquals(200, answer.status(), answer.toString());
        assertEquals(2, answer.body().at("/credentials/app").size());
        assertTrue(answer.at("/credentials/app/APP_PASSWORD").startsWith("pass word"));
    }

    @Test
    void outputs_rename_the_fields_and_the_service_names_the_credential() {
        Answer answer = world.broker().mint(world.token(), "renamed");

        assertEquals(200, answer.status(), answer.toString());
        assertEquals(2, answer.body().at("/credentials/renamed").size());
        assertEquals(answer.at("/expiresAt"), answer.at("/credentials/renamed/DB_EXPIRY"));
        world.assertRows(
                "SELECT credential_id = 'credential:' || mint_id FROM audit.event WHERE kind ="
                        + " 'issued' AND key = 'renamed'",
                "t");
    }

    @Test
    void what_lives_for_too_long_is_withheld_and_deleted() {
        Answer answer = world.broker().mint(world.token(), "long");

        assertEquals("provider_error", answer.at("/details/reason"));
        Eventually.holds(() ->
                liar.live().isEmpty()
                        && liar.calls().stream().map(Call::method).toList().contains("DELETE"));
        world.assertRows(
                "SELECT reason FROM audit.event WHERE kind = 'withheld' AND key = 'long'",
                "provider_error");
        Eventually.holds(() ->
                world.column(
                                "SELECT concat_ws(' ', outcome, ended_how, ended_at >= outcome_at)"
                                        + " FROM audit.mint WHERE key = 'long'")
                        .equals(List.of("withheld undone t")));
        world.assertRows("SELECT key FROM audit.active_credential WHERE key = 'long'");
    }

    @Test
    void the_service_deletes_what_expires() {
        assertEquals(200, world.broker().mint(world.token(), "app").status());
        String mint =
                world.value(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND key = 'app'"
                                + " ORDER BY 1 DESC LIMIT 1");
        assertTrue(honest.live().contains(mint));
        world.database().runAsSuperuser("UPDATE runtime.ending SET due = now(), next_try = now()");
        Eventually.holds(() -> !honest.live().contains(mint));
        Eventually.holds(() ->
                world.column(
                                "SELECT concat_ws(' ', ended_how, ended_detail) FROM audit.mint WHERE mint_id = '%s'"
                                        .formatted(mint))
                        .equals(List.of("over HTTP 204")));
    }
}
