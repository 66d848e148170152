package io.mintmark.base.config;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/** The source of the broker's own identity, with its settings. */
public sealed interface IdentitySettings {

    /**
     * Rejects an identity whose secrets could be read on the way.
     *
     * @param allowed hosts that the operator lists because their networks are trusted
     */
    default void requireConfidential(AllowedHosts allowed) {}

    /** The broker is an issuer itself. */
    record BuiltIn() implements IdentitySettings {}

    /**
     * A token from an identity provider, with the broker as its client.
     *
     * @param issuer the identity provider's issuer, exactly; optional if the endpoint is given
     * @param tokenEndpoint where it issues tokens; overrides the discovery document
     * @param secret present unless {@code auth} is {@code private_key_jwt}
     * @param audience the parameter {@code audience} of the request
     * @param scope the parameter {@code scope}: words separated by spaces
     */
    record ClientCredentials(
            Optional<URI> issuer,
            Optional<URI> tokenEndpoint,
            String clientId,
            ClientAuth auth,
            Optional<Password> secret,
            Optional<String> audience,
            Optional<String> scope)
            implements IdentitySettings {

        public ClientCredentials {
            Complaints complaints = new Complaints();
            if (issuer.isEmpty() && tokenEndpoint.isEmpty()) {
                complaints.add(
                        "neither BROKER_IDP_TOKEN_ENDPOINT nor BROKER_IDP_ISSUER is set: set one of"
                                + " them; the issuer's discovery document names the endpoint");
            }
            boolean needed = auth != ClientAuth.PRIVATE_KEY_JWT;
            if (needed && secret.isEmpty()) {
                complaints.add(
                        "BROKER_IDP_CLIENT_SECRET is not set: set it or"
                                + " BROKER_IDP_CLIENT_SECRET_FILE, or BROKER_IDP_CLIENT_AUTH to"
                                + " private_key_jwt");
            }
            if (!needed && secret.isPresent()) {
                complaints.add(
                        "BROKER_IDP_CLIENT_SECRET is set, but BROKER_IDP_CLIENT_AUTH"
                                + " private_key_jwt doesn't use it: remove one of them");
            }
            complaints.raise();
        }

        @Override
        public void requireConfidential(AllowedHosts allowed) {
            issuer.ifPresent(uri -> require(IdentityTable.ISSUER, uri, allowed));
            tokenEndpoint.ifPresent(uri -> require(IdentityTable.TOKEN_ENDPOINT, uri, allowed));
        }

        private static void require(Setting<URI> setting, URI uri, AllowedHosts allowed) {
            if (!HttpUrl.isConfidential(uri) && !allowed.lists(uri.getHost())) {
                throw new InvalidSettings(
                        ("%s uses plain http to %s, which exposes secrets: use https, or list "
                                        + "the host in OUTBOUND_ALLOWED_HOSTS")
                                .formatted(setting.name(), uri.getHost()));
            }
        }
    }

    /** A token that the platform puts into a file, and replaces before it expires. */
    record TokenFile(Path file) implements IdentitySettings {}
}
