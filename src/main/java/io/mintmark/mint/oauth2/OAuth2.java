package io.mintmark.mint.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.ClientAssertions;
import io.mintmark.identity.TokenOrder;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.outbound.ClientSecret;
import io.mintmark.outbound.FormBody;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Secret;
import io.mintmark.outbound.SecretFiles;
import io.mintmark.outbound.TokenReply;
import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.UnusableSecretException;
import io.mintmark.verdict.MintRefusal.Reason;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Access tokens of any authorization server that exchanges the broker's token for one of its own
 * (RFC 8693). The request has no way to ask for a lifetime.
 */
public final class OAuth2 implements AccessProvider {
    private static final Set<String> KEY_SETTINGS =
            Set.of("audience", "resource", "scope", "requested_token_type");
    private static final String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
    private static final String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
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
    public String type() {
        return "oauth2";
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of("ACCESS_TOKEN", "AccessToken", "TOKEN_EXPIRY", "Expiration");
    }

    /**
     * RFC 8693 section 2.1: {@code audience} and {@code resource} say where the token is to be used
     * and may stand together, so that one alone would limit nothing.
     */
    @Override
    public List<String> targets(JsonNode keySettings) {
        Settings key = settings(keySettings);
        return Stream.of(key.text("audience"), key.text("resource"))
                .flatMap(Optional::stream)
                .toList();
    }

    @Override
    public boolean usesSharedIdentity(JsonNode providerSettings) {
        return tokens.shared();
    }

    @Override
    public MintResult mint(MintOrder order) {
        OAuth2ProviderSettings provider =
                OAuth2ProviderSettings.of(order.access().settings(), destinations);
        AtomicInteger attempts = new AtomicInteger();
        return tokens.showing(
                provider.endpoint(),
                token(order, provider),
                shown -> {
                    FormBody exchange = exchange(order, shown);
                    Supplier<Post> requests = requests(order, provider, exchange, attempts);
                    return calls.credential(
                            provider.endpoint(),
                            requests,
                            order.deadline(),
                            OAuth2::meaning,
                            Map.of());
                });
    }

    /**
     * Without a wish the server chooses what it gives, and some add a refresh token, which would be
     * good for longer than anybody granted.
     */
    private FormBody exchange(MintOrder order, Secret shown) {
        Settings key = settings(order.keySettings());
        return new FormBody()
                .with("grant_type", GRANT_TYPE)
                .with("audience", key.text("audience"))
                .with("resource", key.text("resource"))
                .with("scope", key.text("scope"))
                .with("requested_token_type", tokenType(key))
                .with("subject_token", shown)
                .with("subject_token_type", tokens.type());
    }

    /** Anything else would be good for longer than was granted, or for nothing. */
    private static String tokenType(Settings key) {
        String type = key.text("requested_token_type").orElse(ACCESS_TOKEN);
        if (!TokenReply.TYPES.contains(type)) {
            throw key.unusable(
                    "requested_token_type",
                    "is '%s', and what may be asked for is %s"
                            .formatted(type, new TreeSet<>(TokenReply.TYPES)));
        }
        return type;
    }

    /** The request of each attempt: an assertion works once (RFC 7523 section 3, number 7). */
    private Supplier<Post> requests(
            MintOrder order,
            OAuth2ProviderSettings provider,
            FormBody exchange,
            AtomicInteger attempts) {
        String address = provider.endpoint().toString();
        return switch (provider.client()) {
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

    private static TokenOrder token(MintOrder order, OAuth2ProviderSettings provider) {
        return order.token(provider.audience(), Map.of());
    }

    private static Settings settings(JsonNode keySettings) {
        return Settings.ofKey(keySettings, KEY_SETTINGS);
    }
}
