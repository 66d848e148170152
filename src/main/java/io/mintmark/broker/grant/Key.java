package io.mintmark.broker.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.KeyName;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * An enabled row of {@code broker.key} with its enabled access provider.
 *
 * @param maxDuration the longest life of a credential, by the key's row and its tenant's
 * @param outputs member names of the answer with the provider's fields; empty for the type's own
 * @param resource the URI by which OAuth 2.0 clients ask for it (RFC 8707)
 * @param digest SHA-256 of what a decision uses of the row, in hexadecimal digits
 */
public record Key(
        KeyName name,
        String description,
        Duration maxDuration,
        JsonNode settings,
        Map<String, String> outputs,
        Optional<ResourceUri> resource,
        Provider provider,
        String digest) {

    public Key {
        outputs = Map.copyOf(outputs);
    }
}
