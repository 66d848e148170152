package io.mintmark.broker.exchange;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a request for credentials is answered with. Their rows are committed.
 *
 * @param expiresAt the earliest end among them
 * @param byKey for each key of the request, in its order, the members of the credential
 */
public record Credentials(
        String subject,
        Instant issuedAt,
        Instant expiresAt,
        Map<KeyName, Map<String, Secret>> byKey) {
    public Credentials {
        byKey = Collections.unmodifiableMap(new LinkedHashMap<>(byKey));
    }
}
