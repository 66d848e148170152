package io.mintmark.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.identity.BuiltInIdentity;
import io.mintmark.tenant.TenantName;

/**
 * What access providers fetch to verify the broker's tokens, and services to verify the access
 * tokens of a tenant's issuer: discovery documents (OpenID Connect Discovery 1.0) and keys.
 */
final class IssuerRoutes implements HttpService {
    private static final String DISCOVERY = "/.well-known/openid-configuration";
    private static final String KEYS = "/.well-known/jwks.json";
    private static final String TENANT = "/tenants/{tenant}";
    private static final String CACHE = "public, max-age=300";

    private final BuiltInIdentity identity;
    private final Answers answers;

    IssuerRoutes(BuiltInIdentity identity, Answers answers) {
        this.identity = identity;
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.get(DISCOVERY, (_, response) -> send(response, identity.discoveryDocument()))
                .get(KEYS, (_, response) -> send(response, identity.keySet()))
                .get(TENANT + DISCOVERY, this::tenant)
                .get(TENANT + KEYS, (_, response) -> send(response, identity.keySet()));
    }

    /** Every well-formed name has an issuer: its document tells nothing of whether it exists. */
    private void tenant(ServerRequest request, ServerResponse response) {
        String name = request.path().pathParameters().get("tenant");
        if (TenantName.isValid(name)) {
            send(response, identity.discoveryDocument(new TenantName(name)));
        } else {
            answers.send(request, response, ErrorBody.of(404, "NOT_FOUND", Routes.NO_SUCH_PATH));
        }
    }

    private void send(ServerResponse response, String document) {
        response.header(HeaderValues.create(HeaderNames.CACHE_CONTROL, CACHE));
        answers.send(response, document);
    }
}
