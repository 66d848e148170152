package io.mintmark.mint;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.credential.CredentialType;

import java.util.List;
import java.util.function.Function;

/**
 * One type of access provider. Implementations are stateless towards keys and tenants and may be
 * called by any number of threads.
 */
public interface AccessProvider {

    /** What is known about its credentials besides how they are minted. */
    CredentialType type();

    /** Whether a mint calls anybody. If not, its tenant's bulkhead isn't for it. */
    default boolean callsProvider() {
        return true;
    }

    /**
     * Reads the settings of an access provider and of a key there, and sends nothing. Nobody reads
     * them after this: it is asked once for all mints of a row. So it may not look at anything else
     * that changes.
     *
     * @throws UnusableSettingsException if they can't work, whoever orders
     */
    Prepared prepare(JsonNode providerSettings, JsonNode keySettings);

    /**
     * A key whose settings can work.
     *
     * @param targets all that it aims at: a role, a service account, an audience, and where the
     *     provider can be told in several ways, the others. Each must match the provider's {@code
     *     allowed_targets} before anything is sent. If there is none, the key aims at whatever the
     *     provider gives by default
     * @param usesSharedIdentity whether a mint proves itself with an identity that looks alike for
     *     all tenants, and so needs the provider's {@code shared_identity}
     * @param mint obtains one credential, blocking until the order's deadline at the latest.
     *     Whatever the provider does is told by the result; an {@link UnusableSettingsException}
     *     says that the settings can't work for this order, and any other exception is a fault of
     *     the broker's own
     */
    record Prepared(
            List<String> targets,
            boolean usesSharedIdentity,
            Function<MintOrder, MintResult> mint) {

        public Prepared {
            targets = List.copyOf(targets);
        }
    }
}
