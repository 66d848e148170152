package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.IdentityProviders.Login;

import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * Where the people of a tenant log in, as metadata of a protected resource (RFC 9728 section 2). A
 * tenant's document is at a path below its own address, like that of its issuer.
 */
final class ResourceMetadataRoutes implements HttpService {
    static final String METADATA = "/.well-known/oauth-protected-resource";
    static final String OF_TENANT = "/tenants/{tenant}" + METADATA;

    private static final Header KEPT =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "public, max-age=300");

    /** The error for a tenant without a login. It doesn't reveal whether the tenant exists. */
    private static final String NONE =
            "This tenant does not exist, or no login is configured for it. To configure one, an"
                    + " admin sets login_client_id of an identity provider.";

    private static final String NOT_ONE =
            "Either no tenant of this broker has a login, or several have. Name the tenant in the"
                    + " URL: GET /tenants/{tenant}"
                    + METADATA;

    private final IdentityProviders providers;
    private final Answers answers;
    private final Optional<URI> broker;

    /**
     * @param broker the broker's own address, if it knows it
     */
    ResourceMetadataRoutes(IdentityProviders providers, Answers answers, Optional<URI> broker) {
        this.providers = providers;
        this.answers = answers;
        this.broker = broker;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.get(METADATA, MatchedRoute.of(METADATA, this::onlyTenant))
                .get(OF_TENANT, MatchedRoute.of(OF_TENANT, this::tenant));
    }

    private void onlyTenant(ServerRequest request, ServerResponse response) {
        send(request, response, "", providers.logins(), NOT_ONE);
    }

    private void tenant(ServerRequest request, ServerResponse response) {
        String name = request.path().pathParameters().get("tenant");
        if (TenantName.isValid(name)) {
            send(
                    request,
                    response,
                    "/tenants/" + name,
                    providers.logins(new TenantName(name)),
                    NONE);
        } else {
            notFound(request, response, Routes.NO_SUCH_PATH);
        }
    }

    private void send(
            ServerRequest request,
            ServerResponse response,
            String path,
            List<Login> logins,
            String otherwise) {
        if (broker.isEmpty()) {
            notFound(
                    request,
                    response,
                    "This broker has no BROKER_URL, which this document"
                            + " needs; an operator must set it.");
        } else if (logins.isEmpty()) {
            notFound(request, response, otherwise);
        } else {
            response.header(KEPT);
            answers.send(request, response, body(broker.get() + path, logins));
        }
    }

    private void notFound(ServerRequest request, ServerResponse response, String why) {
        answers.send(request, response, ErrorBody.of(404, "NOT_FOUND", why));
    }

    private static ObjectNode body(String resource, List<Login> logins) {
        ObjectNode body = Json.object().put("resource", resource);
        ArrayNode issuers = body.putArray("authorization_servers");
        logins.stream().map(Login::issuer).distinct().forEach(issuers::add);
        body.putArray("bearer_methods_supported").add("header");
        ArrayNode list = body.putArray("logins");
        logins.forEach(login ->
                list.addObject()
                        .put("identity_provider", login.provider().value())
                        .put("issuer", login.issuer())
                        .put("client_id", login.clientId()));
        return body;
    }
}
