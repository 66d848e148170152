package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.RequestRefusal.SharedOutputs;
import io.mintmark.base.verdict.RequestRefusal.UnacceptedOutputs;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.Credentials;
import io.mintmark.broker.exchange.Exchange;
import io.mintmark.broker.exchange.KeyList;
import io.mintmark.broker.exchange.MintRequest;
import io.mintmark.broker.grant.Key;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.IdentityProviders.Listed;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringTokenizer;

/** The endpoints for clients: mint, list keys, list identity providers. */
final class CredentialRoutes implements HttpService {
    private static final HeaderName ACCEPTED = HeaderNames.create(UnacceptedOutputs.HEADER);
    private static final HeaderName DISTINCT = HeaderNames.create(SharedOutputs.HEADER);
    private static final String SEPARATORS = " \t,";

    private final Exchange exchange;
    private final IdentityProviders providers;
    private final MintRequests requests;
    private final Answers answers;
    private volatile Written written = new Written(List.of(), Json.write(body(List.of())));

    /** A list of identity providers, and the answer that shows it. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Written(List<Listed> listed, byte[] json) {}

    CredentialRoutes(
            Exchange exchange,
            IdentityProviders providers,
            MintRequests requests,
            Answers answers) {
        this.exchange = exchange;
        this.providers = providers;
        this.requests = requests;
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.post("/mint", MatchedRoute.of("/credentials/mint", this::mint))
                .get("/keys", MatchedRoute.of("/credentials/keys", this::keys))
                .get(
                        "/idp-providers",
                        MatchedRoute.of("/credentials/idp-providers", this::identityProviders));
    }

    private void mint(ServerRequest request, ServerResponse response) {
        Verdict<Credentials> verdict =
                MintBody.of(Bodies.json(request))
                        .then(body -> mintRequest(request, body))
                        .then(exchange::mint);
        answers.send(request, response, verdict, CredentialRoutes::body, Refusals::of);
    }

    private Verdict<MintRequest> mintRequest(ServerRequest request, MintBody body) {
        return TokenPlaces.inHeaderOrBody(request, body.members())
                .map(token -> requests.of(request, token, body.keys(), format(request)));
    }

    /** The format of a request, limited to the outputs that the client can use if it lists them. */
    private static CredentialFormat format(ServerRequest request) {
        CredentialFormat format = CredentialFormat.OF_KEYS.withDistinct(outputs(request, DISTINCT));
        return request.headers().contains(ACCEPTED)
                ? format.accepting(outputs(request, ACCEPTED))
                : format;
    }

    private static Set<String> outputs(ServerRequest request, HeaderName header) {
        Set<String> outputs = new HashSet<>();
        for (String line : request.headers().values(header)) {
            new StringTokenizer(line, SEPARATORS)
                    .asIterator()
                    .forEachRemaining(name -> outputs.add(name.toString()));
        }
        return outputs;
    }

    private void keys(ServerRequest request, ServerResponse response) {
        Verdict<KeyList> verdict =
                TokenPlaces.inHeaderOrQuery(request)
                        .map(token -> requests.list(request, token))
                        .then(exchange::keys);
        answers.sendPrivate(request, response, verdict, CredentialRoutes::body, Refusals::of);
    }

    private void identityProviders(ServerRequest request, ServerResponse response) {
        answers.sendShared(request, response, new Content(Answers.JSON, json(providers.listed())));
    }

    /** Anybody may ask for the list, so it is written once for all who do. */
    @SuppressWarnings("ReferenceEquality") // a list that hasn't changed is the same object
    private byte[] json(List<Listed> listed) {
        Written last = written;
        if (last.listed() != listed) {
            last = new Written(listed, Json.write(body(listed)));
            written = last;
        }
        return last.json();
    }

    private static ObjectNode body(List<Listed> listed) {
        ObjectNode body = Json.object();
        ArrayNode list = body.putArray("providers");
        listed.forEach(provider ->
                list.addObject()
                        .put("name", provider.name().value())
                        .put("issuer", provider.issuer())
                        .put("type", "oidc"));
        return body;
    }

    static ObjectNode body(Credentials credentials) {
        ObjectNode body = Json.object();
        ObjectNode byKey = body.putObject("credentials");
        credentials
                .byKey()
                .forEach((key, members) -> {
                    ObjectNode own = byKey.putObject(key.value());
                    members.forEach((name, secret) -> own.put(name, secret.reveal()));
                });
        return body.put("expiresAt", time(credentials.expiresAt()))
                .put("subject", credentials.subject())
                .put("issuedAt", time(credentials.issuedAt()));
    }

    private static ObjectNode body(KeyList list) {
        ObjectNode body = Json.object();
        body.put("subject", list.subject()).put("idp", list.idp().value());
        ArrayNode keys = body.putArray("keys");
        list.keys()
                .forEach(granted -> {
                    Key key = granted.key();
                    keys.addObject()
                            .put("name", key.name().value())
                            .put("provider", key.provider().name().value())
                            .put("description", key.description())
                            .put("maxDuration", granted.duration().toSeconds());
                });
        return body;
    }

    private static String time(Instant at) {
        return Timestamps.text(at.truncatedTo(ChronoUnit.MILLIS));
    }

    /**
     * The body of a mint request (HTTP API section 2.1), checked.
     *
     * @param members what was sent
     */
    private record MintBody(JsonNode members, List<KeyName> keys) {
        private static final Set<String> KNOWN = Set.of("keys", TokenPlaces.MEMBER);

        static Verdict<MintBody> of(byte[] bytes) {
            return JsonMembers.of(bytes, KNOWN, "{\"keys\": [\"…\"]}")
                    .then(body ->
                            JsonMembers.keys(body.path("keys"))
                                    .map(keys -> new MintBody(body, keys)));
        }
    }
}
