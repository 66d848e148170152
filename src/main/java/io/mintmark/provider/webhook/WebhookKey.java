package io.mintmark.provider.webhook;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.time.Timestamps;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.Settings;

import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;

/**
 * The settings of a key of type {@code webhook}.
 *
 * @param target by which the service decides what a credential can do
 * @param parameters that it gets besides
 * @param sendSubject whether it gets the client's subject and identity provider, and those of who
 *     acts for it
 */
public record WebhookKey(String target, Map<String, String> parameters, boolean sendSubject) {
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 4_096;
    private static final Set<String> NAMES = Set.of("target", "parameters", "send_subject");

    public WebhookKey {
        parameters = Map.copyOf(parameters);
    }

    /** Reads the key's settings. */
    public static WebhookKey of(JsonNode settings) {
        Settings key = Settings.ofKey(settings, NAMES);
        Map<String, String> parameters = key.textsByName("parameters");
        if (object(parameters).toString().getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
            throw key.unusable("parameters", "has more than %d bytes".formatted(MOST_BYTES));
        }
        return new WebhookKey(
                key.requiredText("target"), parameters, key.flag("send_subject", false));
    }

    /** The request to the service, as docs/webhook.yaml describes it. */
    public String request(MintOrder order) {
        ObjectNode request =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("version", VERSION)
                        .put("tenant", order.tenant().value())
                        .put("provider", order.provider().value())
                        .put("key", order.key().value())
                        .put("target", target)
                        .put("mintId", order.mintId().toString())
                        .put("duration", order.duration().toSeconds())
                        .put(
                                "deadline",
                                Timestamps.text(order.deadline().truncatedTo(ChronoUnit.MILLIS)));
        if (sendSubject) {
            request.put("subject", order.subject()).put("idp", order.idp().value());
            order.actor()
                    .ifPresent(actor ->
                            request.putObject("actor")
                                    .put("subject", actor.subject())
                                    .put("idp", actor.idp().value()));
        }
        return request.set("parameters", object(parameters)).toString();
    }

    private static ObjectNode object(Map<String, String> texts) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        texts.forEach(object::put);
        return object;
    }
}
