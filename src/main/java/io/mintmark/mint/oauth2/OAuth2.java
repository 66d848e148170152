package io.mintmark.mint.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.credential.CredentialType;
import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.ClientAssertions;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.outbound.ClientSecret;
import io.mintmark.outbound.FormBody;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Secret;
import io.mintmark.outbound.SecretFiles;
import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.UnusableSecretException;
import io.mintmark.verdict.MintRefusal.Reason;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Access tokens of any authorization server that exchanges the broker's token for one of its own
 * (RFC 8693). The request has no way to ask for a lifetime.
 */
public final class OAuth2 implements AccessProvider {
    private static final String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
    private static final String ASSERTION_TYPE =
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

    private final BrokerTokens tokens;
    private final ClientAssertions assertions;
    private final SecretFiles secrets;
    private final TokenDestinations destinations;
    private final TokenCalls calls;

    public OAuth2(
            BrokerIdentity identity,
            ClientAssertions assertions,
            SecretFiles secrets,
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
        return tokens.showing(
                settings.endpoint(),
                order.token(settings.subjectAudience(), Map.of()),
                shown -> {
                    FormBody exchange = exchange(settings, shown);
                    Supplier<Post> requests = requests(order, settings, exchange, attempts);
                    return calls.credential(
                            order, settings.endpoint(), requests, OAuth2::meaning, Map.of());
                });
    }

    /**
     * Without a wish the server chooses what it gives, and some add a refresh token, which would be
     * good for longer than anybody granted.
     */
    private FormBody exchange(OAuth2Settings settings, Secret shown) {
        return new FormBody()
                .with("grant_type", GRANT_TYPE)
                .with("audience", settings.audience())
                .with("resource", settings.resource())
                .with("scope", settings.scope())
                .with("requested_token_type", settings.tokenType())
                .with("subject_token", shown)
                .with("subject_token_type", tokens.type());
    }

    /** The request of each attempt: an assertion works once (RFC 7523 section 3, number 7). */
    private Supplier<Post> requests(
            MintOrder order, OAuth2Settings settings, FormBody exchange, AtomicInteger attempts) {
        String address = settings.endpoint().toString();
        return switch (settings.client()) {
            case Client.Open(Optional<String> id) -> {
                Post post = exchange.with("client_id", id).to(address);
                yield () -> post;
            }
            case Client.WithSecret client -> {
                Post post = exchange.to(address).authorized(secret(order, client));
                yield () -> post;
            }
            case Client.WithKey(String id) ->
                    () ->
                            exchange.with("client_assertion_type", ASSERTION_TYPE)
                                    .with(
                                            "client_assertion",
                                            assertions.assertion(
                                                    id, address, assertionId(order, attempts)))
                                    .to(address);
        };
    }

    private static String assertionId(MintOrder order, AtomicInteger attempts) {
        int attempt = attempts.incrementAndGet();
        return attempt == 1 ? order.mintId().toString() : order.mintId() + "-" + attempt;
    }

    private ClientSecret secret(MintOrder order, Client.WithSecret client) {
        try {
            return new ClientSecret(
                    client.id(), secrets.read(order.tenant().value(), client.secretFile()));
        } catch (UnusableSecretException e) {
            throw new UnusableSettingsException(
                    "access provider setting 'client_secret' " + e.getMessage());
        }
    }

    /**
     * What the standard leaves open. RFC 8693 section 2.2.2 has one code, {@code invalid_request},
     * for a request that makes no sense and for a subject token that isn't accepted; only the
     * description tells them apart. Keycloak says {@code invalid_issuer} where it doesn't know the
     * subject token's.
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

    /** Keycloak doesn't even say which token. */
    private static boolean isAboutTheToken(String description) {
        String words = description.toLowerCase(Locale.ROOT).replace('_', ' ');
        return words.contains("subject token") || words.equals("invalid token");
    }
}
