package io.mintmark.broker.identity;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * The token endpoint of an issuer, from its metadata: at {@code
 * <issuer>/.well-known/openid-configuration} (OpenID Connect Discovery 1.0 section 4), or, if that
 * doesn't say, where RFC 8414 section 3 has them.
 */
final class Discovery {
    /** Discovery documents have a few KiB. */
    private static final int LONGEST = 64 << 10;

    private final GuardedHttp http;

    Discovery(GuardedHttp http) {
        this.http = http;
    }

    /**
     * The issuer's token endpoint.
     *
     * @throws NoBrokerTokenException if the metadata can't be read, or are another issuer's
     */
    URI tokenEndpoint(String issuer) {
        try {
            return named(
                    issuer, http.getOfService(base(issuer) + "/.well-known/openid-configuration"));
        } catch (OutboundFailure e) {
            if (!e.answered()) {
                throw IdpFailures.of(e);
            }
            return ofAuthorizationServer(issuer);
        }
    }

    private URI ofAuthorizationServer(String issuer) {
        URI uri = URI.create(base(issuer));
        String address =
                "%s://%s/.well-known/oauth-authorization-server%s"
                        .formatted(uri.getScheme(), uri.getRawAuthority(), uri.getRawPath());
        try {
            return named(issuer, http.getOfService(address));
        } catch (OutboundFailure e) {
            throw IdpFailures.of(e);
        }
    }

    /**
     * The token endpoint in a document of this issuer. Metadata of another issuer would send the
     * client's secret elsewhere.
     */
    private static URI named(String issuer, byte[] document) {
        ObjectNode metadata =
                StrictJson.object(document, LONGEST)
                        .orElseThrow(() ->
                                IdpFailures.failed(
                                        Kind.FAILED, "the discovery document can't be read"));
        String named = metadata.path("issuer").asText();
        if (!issuer.equals(named)) {
            throw IdpFailures.failed(
                    Kind.MISCONFIGURED,
                    "the discovery document names the issuer '%s', but BROKER_IDP_ISSUER is '%s'"
                            .formatted(named, issuer));
        }
        String endpoint = metadata.path("token_endpoint").textValue();
        if (endpoint == null) {
            throw IdpFailures.failed(
                    Kind.MISCONFIGURED, "the discovery document names no token_endpoint");
        }
        try {
            return new URI(endpoint);
        } catch (URISyntaxException e) {
            throw IdpFailures.failed(
                    Kind.FAILED, "the token_endpoint in the discovery document is not a URL");
        }
    }

    /** The issuer without one trailing slash, for URLs only. */
    private static String base(String issuer) {
        return issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
    }
}
