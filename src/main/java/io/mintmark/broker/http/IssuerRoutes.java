package io.mintmark.broker.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.token.IdentityProviders;

import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * What access providers fetch to verify the broker's tokens, and services to verify the access
 * tokens of a tenant's issuer: discovery documents (OpenID Connect Discovery 1.0) and keys.
 */
final class IssuerRoutes implements HttpService {
    private static final String DISCOVERY = "/.well-known/openid-configuration";
    private static final String KEYS = "/.well-known/jwks.json";
    private static final String TENANT = "/tenants/{tenant}";
    private static final Pattern OF_TENANT =
            Pattern.compile(
                    "/tenants/[a-z][a-z0-9-]{0,39}/\\.well-known/(openid-configuration|jwks\\.json)");
    private static final String CACHE = "public, max-age=300";

    private static final String NONE =
            "This broker signs no tokens: an external identity provider issues them.";

    private final Optional<BuiltInIdentity> identity;
    private final IdentityProviders providers;
    private final Map<String, Object> endpoints;
    private final Answers answers;

    /**
     * @param identity the keys and the issuer's name; none where the broker signs nothing
     * @param providers know the tenants that came from another cell and keep its issuer
     * @param broker the broker's own address, if it knows it
     */
    IssuerRoutes(
            Optional<BuiltInIdentity> identity,
            IdentityProviders providers,
            Optional<URI> broker,
            Answers answers) {
        this.identity = identity;
        this.providers = providers;
        this.endpoints = OAuthRoutes.endpointMetadata(broker);
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        get(rules, DISCOVERY, document(issuer -> issuer.discoveryDocument(endpoints)));
        get(rules, KEYS, document(BuiltInIdentity::keySet));
        get(rules, TENANT + DISCOVERY, ofTenant(this::ofTenant));
        get(rules, TENANT + KEYS, ofTenant((issuer, _) -> issuer.keySet()));
    }

    private static void get(HttpRules rules, String path, Handler handler) {
        rules.get(path, MatchedRoute.of(path, handler));
    }

    /** Whether this is exactly the path of a document that a tenant's issuer publishes. */
    static boolean isOfTenant(String path) {
        return OF_TENANT.matcher(path).matches();
    }

    /**
     * Serves a document of a tenant's issuer. Every well-formed name has an issuer, so that
     * documents don't reveal whether the tenant exists, unless it came from another cell.
     */
    private Handler ofTenant(BiFunction<BuiltInIdentity, TenantName, String> document) {
        return (request, response) -> {
            String name = request.path().pathParameters().get("tenant");
            if (TenantName.isValid(name)) {
                TenantName tenant = new TenantName(name);
                document(issuer -> document.apply(issuer, tenant)).handle(request, response);
            } else {
                notFound(request, response, Routes.NO_SUCH_PATH);
            }
        };
    }

    private String ofTenant(BuiltInIdentity issuer, TenantName tenant) {
        return issuer.discoveryDocument(tenant, providers.tokenIssuer(tenant), endpoints);
    }

    private Handler document(Function<BuiltInIdentity, String> document) {
        return (request, response) ->
                identity.ifPresentOrElse(
                        issuer -> send(request, response, document.apply(issuer)),
                        () -> notFound(request, response, NONE));
    }

    private void notFound(ServerRequest request, ServerResponse response, String why) {
        answers.send(request, response, ErrorBody.of(404, "NOT_FOUND", why));
    }

    private void send(ServerRequest request, ServerResponse response, String document) {
        response.header(HeaderValues.create(HeaderNames.CACHE_CONTROL, CACHE));
        answers.send(request, response, document);
    }
}
