package io.mintmark.provider.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.ClientSecret;
import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.Undo;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.ClientAssertions;
import io.mintmark.provider.web.TokenCalls;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Access tokens of any authorization server that gives one for the broker's token: by token
 * exchange (RFC 8693), or as an authorization grant (RFC 7523). Neither request has a parameter for
 * the lifetime.
 */
public final class OAuth2 implements AccessProvider {
    private final BrokerTokens tokens;
    private final ClientAssertions assertions;
    private final SettingSecrets secrets;
    private final TokenDestinations destinations;
    private final TokenCalls calls;

    public OAuth2(
            BrokerIdentity identity,
            ClientAssertions assertions,
            SettingSecrets secrets,
            TokenDestinations destinations,
            TokenCalls calls) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.assertions = assertions;
        this.secrets = secrets;
        this.destinations = destinations;
        this.calls = calls;
    }

    @Override
    public CredentialType type() {
        return new OAuth2Type();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        OAuth2Settings settings = OAuth2Settings.of(providerSettings, keySettings, destinations);
        return new Prepared(settings.targets(), tokens.shared(), order -> mint(order, settings));
    }

    private MintResult mint(MintOrder order, OAuth2Settings settings) {
        AtomicInteger attempts = new AtomicInteger();
        TokenRequest request = settings.request();
        String address = settings.endpoint().toString();
        return tokens.showing(
                settings.endpoint(),
                settings.subject(order),
                shown -> {
                    FormBody body = request.showing(shown, tokens.type());
                    Supplier<OutboundRequest> requests =
                            requests(
                                    order,
                                    settings,
                                    body,
                                    complete -> request.to(address, complete),
                                    attempts);
                    return calls.credential(
                            order,
                            settings.endpoint(),
                            requests,
                            OAuth2::meaning,
                            request.scope()
                                    .map(scope -> Map.of(Minted.SCOPE, scope))
                                    .orElse(Map.of()),
                            token ->
                                    settings.revocation()
                                            .map(at ->
                                                    revocation(
                                                            order, settings, at, token, attempts)));
                });
    }

    private Undo revocation(
            MintOrder order,
            OAuth2Settings settings,
            Endpoint endpoint,
            Secret token,
            AtomicInteger attempts) {
        return deadline -> {
            FormBody body =
                    new FormBody().with("token", token).with("token_type_hint", "access_token");
            Supplier<OutboundRequest> requests =
                    requests(
                            order,
                            settings,
                            body,
                            complete -> complete.to(endpoint.toString()),
                            attempts);
            return calls.revocation(order.withoutDecision(), deadline, endpoint, requests);
        };
    }

    /** The request of each attempt: an assertion works once (RFC 7523 section 3, number 7). */
    private Supplier<OutboundRequest> requests(
            MintOrder order,
            OAuth2Settings settings,
            FormBody body,
            Function<FormBody, OutboundRequest> to,
            AtomicInteger attempts) {
        return switch (settings.client()) {
            case Client.Open(Optional<String> id) -> {
                OutboundRequest post = to.apply(body.with("client_id", id));
                yield () -> post;
            }
            case Client.WithSecret client -> {
                Secret secret = secrets.read(order.tenant(), "client_secret", client.secretFile());
                OutboundRequest post =
                        to.apply(body).authorized(new ClientSecret(client.id(), secret));
                yield () -> post;
            }
            case Client.WithKey(String id) ->
                    () ->
                            to.apply(
                                    body.withClientAssertion(
                                            assertions.assertion(
                                                    id,
                                                    settings.endpoint().toString(),
                                                    assertionId(order, attempts))));
        };
    }

    private static String assertionId(MintOrder order, AtomicInteger attempts) {
        int attempt = attempts.incrementAndGet();
        return attempt == 1 ? order.mintId().toString() : order.mintId() + "-" + attempt;
    }

    /**
     * The meaning of errors that the standard leaves open. RFC 8693 section 2.2.2 has one code,
     * {@code invalid_request}, for a malformed request and for a rejected subject token; only the
     * description distinguishes them. Keycloak returns {@code invalid_issuer} for an unknown issuer
     * of the subject token.
     */
    private static Optional<Reason> meaning(Denied denied) {
        boolean ofTheBroker =
                switch (denied.error().orElse("")) {
                    case "invalid_request" ->
                            denied.description().filter(OAuth2::isAboutTheToken).isPresent();
                    case "invalid_issuer" -> true;
                    default -> false;
                };
        return ofTheBroker ? Optional.of(Reason.BROKER_IDENTITY_REJECTED) : Optional.empty();
    }

    /** Whether an error is about the token. Keycloak doesn't even say which token. */
    private static boolean isAboutTheToken(String description) {
        String words = description.toLowerCase(Locale.ROOT).replace('_', ' ');
        return words.contains("subject token") || words.equals("invalid token");
    }
}
