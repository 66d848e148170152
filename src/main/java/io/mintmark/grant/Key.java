package io.mintmark.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.KeyName;

import java.time.Duration;
import java.util.Map;

/**
 * An enabled row of {@code broker.key} with its enabled access provider.
 *
 * @param maxDuration how long a credential may live at most
 * @param outputs member names of the answer with the provider's fields; empty for the type's own
 */
public record Key(
        KeyName name,
        String description,
        Duration maxDuration,
        JsonNode settings,
        Map<String, String> outputs,
        Provider provider) {

    public Key {
        outputs = Map.copyOf(outputs);
    }
}
