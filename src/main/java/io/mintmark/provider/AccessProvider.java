package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.tenant.TenantName;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * One type of access provider. Implementations are stateless towards keys and tenants and may be
 * called by any number of threads.
 */
public interface AccessProvider {

    /** The facts about this type's credentials that don't depend on a mint. */
    CredentialType type();

    /**
     * Output names with the field that fills each, for keys without {@code outputs} of an access
     * provider with these settings.
     */
    default Map<String, String> defaultOutputs(JsonNode providerSettings) {
        return type().defaultOutputs();
    }

    /**
     * Whether a mint calls a provider. If not, it doesn't count in the tenant's bulkhead, and one
     * that takes too long is this replica's fault.
     */
    default boolean callsProvider() {
        return true;
    }

    /**
     * Reads the secrets that an access provider's settings refer to, as far as they can be verified
     * without a call.
     *
     * @throws UnusableSettingsException if a mint could not use them
     */
    default void requireSecrets(TenantName tenant, JsonNode providerSettings) {}

    /**
     * Why this access provider can't certify a client's key, whatever its settings: the client's
     * mistake, which is to be refused before anything is on record. The end of a sentence about the
     * key; empty if it can.
     *
     * @throws UnusableSettingsException if the settings can't work; the mint will say so
     */
    default Optional<String> objection(
            TenantName tenant, JsonNode providerSettings, CallerKey key) {
        return Optional.empty();
    }

    /**
     * The certificates in an access provider's settings whose expiry ends mints: PEM by setting.
     */
    default Map<String, String> certificates(JsonNode providerSettings) {
        return certificate(providerSettings, "client_certificate");
    }

    /** The setting of a certificate, if there is one. */
    static Map<String, String> certificate(JsonNode providerSettings, String setting) {
        JsonNode pem = providerSettings.path(setting);
        return pem.isTextual() ? Map.of(setting, pem.asText()) : Map.of();
    }

    /** Ends what mints leave behind at the provider; empty if they leave nothing. */
    default Optional<LeaseRevoker> revoker() {
        return Optional.empty();
    }

    /** Writes the list by which servers refuse credentials that were ended; empty without one. */
    default Optional<RevocationFormat> revocations() {
        return Optional.empty();
    }

    /**
     * Reads the settings of an access provider and of a key, and sends nothing. It is called once
     * for all mints of a row, so it must not depend on anything else that changes.
     *
     * @throws UnusableSettingsException if they can't work for any order
     */
    Prepared prepare(JsonNode providerSettings, JsonNode keySettings);

    /**
     * A key whose settings can work.
     *
     * @param targets all targets: a role, a service account, an audience, and in all spellings if
     *     the provider accepts several. Each must match the provider's {@code allowed_targets}
     *     before anything is sent. Empty if the key uses the provider's default
     * @param literalTargets the targets that {@code allowed_targets} must name literally: a glob
     *     that matches them by chance doesn't allow them
     * @param usesSharedIdentity whether a mint uses an identity that all tenants share, and so
     *     needs the provider's {@code shared_identity}
     * @param mint obtains one credential, blocking until the order's deadline at the latest. The
     *     result describes whatever the provider does; an {@link UnusableSettingsException} means
     *     that the settings can't work for this order, and any other exception is a fault of the
     *     broker
     */
    record Prepared(
            List<String> targets,
            List<String> literalTargets,
            boolean usesSharedIdentity,
            Function<MintOrder, MintResult> mint) {

        public Prepared {
            targets = List.copyOf(targets);
            literalTargets = List.copyOf(literalTargets);
        }

        /** A key whose targets globs may allow. */
        public Prepared(
                List<String> targets,
                boolean usesSharedIdentity,
                Function<MintOrder, MintResult> mint) {
            this(targets, List.of(), usesSharedIdentity, mint);
        }
    }
}
