package io.mintmark.mint;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.List;
import java.util.Map;

/**
 * One type of access provider. Implementations are stateless towards keys and tenants and may be
 * called by any number of threads. Where settings can't work, every method that is shown them
 * throws {@link UnusableSettingsException} before anything is sent.
 */
public interface AccessProvider {

    /** The name in {@code broker.provider_type}. */
    String type();

    /**
     * Member names of the answer, each with the field it is filled from, where a key names none.
     */
    Map<String, String> defaultOutputs();

    /**
     * All that the key's settings aim at: a role, a service account, an audience, and where the
     * provider can be told in several ways, the others. Each must match the provider's {@code
     * allowed_targets} before anything is sent. If there is none, the key aims at whatever the
     * provider gives by default.
     */
    List<String> targets(JsonNode keySettings);

    /**
     * Whether a mint with these settings proves itself with an identity that looks alike for all
     * tenants, and so needs the provider's {@code shared_identity}.
     */
    boolean usesSharedIdentity(JsonNode providerSettings);

    /** Whether a mint calls anybody. If not, its tenant's bulkhead isn't for it. */
    default boolean callsProvider() {
        return true;
    }

    /**
     * Obtains one credential, blocking until the order's deadline at the latest. Whatever the
     * provider does is told by the result; an exception other than for settings is a fault of the
     * broker's own.
     */
    MintResult mint(MintOrder order);
}
