package io.mintmark.base.credential;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A credential that has not expired, or may exist.
 *
 * @param type the name of its {@link CredentialType}
 * @param outcome {@code issued} or {@code withheld} if the broker obtained it; for any other
 *     outcome only the provider knows whether it exists
 * @param target the target of its key when it was minted, such as a role
 * @param sessionName the template of the key's session names when it was minted
 * @param endpoint the access provider's setting {@code endpoint}
 * @param expiresAt the latest time at which it can expire
 */
public record ActiveCredential(
        String tenant,
        String subject,
        String key,
        String provider,
        String type,
        UUID mintId,
        String outcome,
        Optional<String> credentialId,
        Optional<String> target,
        String sessionName,
        Optional<String> endpoint,
        Instant expiresAt) {

    /** Groups credentials by one of their properties, in its order. */
    public static Map<String, List<ActiveCredential>> by(
            Function<ActiveCredential, String> property, List<ActiveCredential> credentials) {
        return credentials.stream()
                .collect(Collectors.groupingBy(property, TreeMap::new, Collectors.toList()));
    }

    /**
     * The latest expiry.
     *
     * @param credentials at least one
     */
    public static Instant lastExpiry(List<ActiveCredential> credentials) {
        return credentials.stream()
                .map(ActiveCredential::expiresAt)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }
}
