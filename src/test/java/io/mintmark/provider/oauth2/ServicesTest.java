package io.mintmark.provider.oauth2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.oauth2.ServiceStandIn.Service;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The recipes of docs/providers/services.md obtain tokens from what the documentation describes.
 */
class ServicesTest {
    /** The rows that a recipe writes. */
    private record Recipe(JsonNode provider, JsonNode key, List<String> allowedTargets) {}

    private static final Map<Service, Recipe> RECIPES = new EnumMap<>(Service.class);

    @AutoClose private static MintingBroker broker;

    private final Map<Service, ServiceStandIn> services = new EnumMap<>(Service.class);

    @BeforeAll
    static void run() throws IOException {
        broker = MintingBroker.usual();
        try (TestDatabase database = TestDatabase.migrated()) {
            database.admin(recipe("onboard_tenant"));
            for (Service service : Service.values()) {
                String name = service.name().toLowerCase(Locale.ROOT);
                database.admin(recipe("provider_" + name));
                String row = " FROM broker.access_provider WHERE name = '%s'".formatted(name);
                RECIPES.put(
                        service,
                        new Recipe(
                                Orders.json(database.value("SELECT settings" + row)),
                                Orders.json(
                                        database.value(
                                                "SELECT settings FROM broker.key WHERE provider = '%s'"
                                                        .formatted(name))),
                                database.column("SELECT unnest(allowed_targets)" + row)));
            }
        }
    }

    private static String recipe(String name) throws IOException {
        return Files.readString(Path.of("db", "recipes", name + ".sql"))
                .replace("\n\\set SHOW_CONTEXT never\n", "\n");
    }

    @AfterEach
    void close() {
        services.values().forEach(ServiceStandIn::close);
    }

    @ParameterizedTest
    @EnumSource
    void a_recipe_obtains_a_token(Service service) {
        Minted minted = broker.minted(order(service));

        assertEquals(new Secret("the-services-token"), minted.fields().get("AccessToken"));
    }

    @ParameterizedTest
    @EnumSource
    void a_service_that_trusts_nobody_of_that_name_refuses(Service service) {
        Orders order = order(service);
        ObjectNode key = (ObjectNode) order.keySettings();
        JsonNode names = key.has("parameters") ? key.get("parameters") : key;
        String name = names.fieldNames().next();
        ((ObjectNode) names).put(name, "another");

        broker.assertFailed(
                Reason.BROKER_IDENTITY_REJECTED, "no trust for this " + name, order.allowing("**"));
    }

    @ParameterizedTest
    @EnumSource
    void another_target_than_the_recipes_is_not_allowed(Service service) {
        Orders order = order(service);
        ObjectNode key = (ObjectNode) order.keySettings();
        JsonNode names = key.has("parameters") ? key.get("parameters") : key;
        names.fieldNames().forEachRemaining(name -> ((ObjectNode) names).put(name, "another"));

        Failed failed = broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, order);
        assertTrue(failed.detail().startsWith("the key's target is '"), failed.detail());
        assertEquals(List.of(), service(service).calls());
    }

    @ParameterizedTest
    @EnumSource
    void a_token_for_somebody_else_is_refused(Service service) {
        Orders order = order(service);
        settings(order).put("subject_audience", "https://elsewhere.example");

        assertEquals(Reason.BROKER_IDENTITY_REJECTED, broker.failed(order).reason());
    }

    @ParameterizedTest
    @EnumSource
    void the_other_media_type_is_refused(Service service) {
        Orders order = order(service);
        ObjectNode settings = settings(order);
        settings.put("body", settings.has("body") ? "form" : "json");

        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, "only application/", order);
    }

    @ParameterizedTest
    @CsvSource({"OPENAI, 3600", "DATABRICKS, 3600", "OPENROUTER, 900"})
    void a_token_that_is_bound_to_the_brokers_lives_as_long_as_the_key_allows(
            Service service, int seconds) {
        assertLives(seconds, order(service));
        assertLives(120, order(service).lasting(Duration.ofMinutes(2)));
        Orders usual = order(service);
        settings(usual).remove("subject_lifetime");
        assertLives(300, usual);
    }

    @Test
    void a_jti_works_once_at_anthropic() {
        broker.minted(order(Service.ANTHROPIC));

        broker.assertFailed(Reason.BROKER_IDENTITY_REJECTED, order(Service.ANTHROPIC));
    }

    private static void assertLives(int seconds, Orders order) {
        Instant before = Instant.now();
        Duration life = Duration.between(before, broker.minted(order).expiresAt());
        assertTrue(Math.abs(life.toSeconds() - seconds) <= 20, life::toString);
    }

    private static ObjectNode settings(Orders order) {
        return (ObjectNode) order.access().settings();
    }

    private ServiceStandIn service(Service service) {
        return services.computeIfAbsent(
                service, it -> new ServiceStandIn(it, broker.identity()::keySet));
    }

    /** The recipe's key, with the stand-in in the place of the service. */
    private Orders order(Service service) {
        Recipe recipe = Objects.requireNonNull(RECIPES.get(service));
        ObjectNode provider = recipe.provider().deepCopy();
        Endpoint real = Endpoint.at(provider.get("token_endpoint").textValue());
        provider.put("token_endpoint", service(service).origin() + real.path());
        return Orders.of("oauth2", provider.toString(), recipe.key().toString())
                .allowing(recipe.allowedTargets().toArray(String[]::new));
    }
}
