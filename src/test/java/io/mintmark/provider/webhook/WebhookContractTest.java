package io.mintmark.provider.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;

import io.mintmark.Unchecked;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What docs/webhook.yaml says is what the broker sends and accepts. */
class WebhookContractTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final JsonNode contract = contract();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'target':'a'",
                "'target':'a','send_subject':true,'parameters':{'repository':'shop'}"
            })
    void a_request_is_as_the_contract_says(String key) {
        JsonNode request =
                Orders.json(
                        WebhookKey.of(Orders.json("{" + key + "}"))
                                .request(
                                        Orders.of("webhook", "{}", "{}")
                                                .actedBy("agent:bot")
                                                .order()));

        assertEquals(List.of(), problems("Request", request));
        Set<String> described = names(contract.at("/components/schemas/Request/properties"));
        described.removeAll(names(request));
        assertEquals(
                key.contains("send_subject") ? Set.of() : Set.of("subject", "idp", "actor"),
                described);
    }

    @Test
    void the_service_is_told_who_acts_for_the_subject_and_nobody_if_nobody_does() {
        WebhookKey key = WebhookKey.of(Orders.json("{'target':'a','send_subject':true}"));
        Orders orders = Orders.of("webhook", "{}", "{}");

        assertEquals(
                Orders.json("{'subject':'agent:bot','idp':'agents'}"),
                Orders.json(key.request(orders.actedBy("agent:bot").order())).path("actor"));
        assertFalse(Orders.json(key.request(orders.order())).has("actor"));
    }

    @Test
    void an_answer_that_the_contract_describes_is_a_credential() {
        try (MintingBroker broker = MintingBroker.usual();
                var service = new WebhookStandIn(MintingBroker.ISSUER, broker.identity()::keySet)) {
            service.next(
                    service.changing(answer -> {
                        answer.put("endsByItself", true);
                        assertEquals(List.of(), problems("Credential", answer));
                        assertEquals(
                                names(contract.at("/components/schemas/Credential/properties")),
                                names(answer));
                    }));
            Orders order =
                    Orders.of(
                            "webhook",
                            "{'endpoint':'%s','fields':['APP_USER']}".formatted(service.url()),
                            "{'target':'a'}");

            Minted minted = broker.minted(order);

            assertEquals(Set.of("APP_USER", "Expiration"), minted.fields().keySet());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'values':{},'expiresAt':'2026-01-01T00:00:00Z'}",
                "{'values':{'A':7},'expiresAt':'2026-01-01T00:00:00Z','credentialId':'a'}",
                "{'values':{'A':''},'expiresAt':'2026-01-01T00:00:00Z','credentialId':'a'}",
                "{'values':{},'expiresAt':'2026-01-01T00:00:00Z','credentialId':'a b'}",
                "{'values':{},'expiresAt':'2026-01-01T00:00:00Z','credentialId':'a','endsByItself':1}",
            })
    void an_answer_that_the_broker_withholds_is_not_in_the_contract(String answer) {
        assertFalse(problems("Credential", Orders.json(answer)).isEmpty());
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new HashSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private List<String> problems(String schema, JsonNode value) {
        ObjectNode whole = JSON.createObjectNode().put("$ref", "#/components/schemas/" + schema);
        whole.set("components", contract.get("components"));
        return Unchecked.call(() ->
                SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                        .getSchema(whole.toString())
                        .validate(JSON.writeValueAsString(value), InputFormat.JSON)
                        .stream()
                        .map(Object::toString)
                        .toList());
    }

    private static JsonNode contract() {
        try {
            LoaderOptions strict = new LoaderOptions();
            strict.setAllowDuplicateKeys(false);
            Object document =
                    new Yaml(new SafeConstructor(strict))
                            .load(Files.readString(Path.of("docs", "webhook.yaml")));
            return JSON.valueToTree(document);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
