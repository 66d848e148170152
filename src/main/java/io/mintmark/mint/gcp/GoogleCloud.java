package io.mintmark.mint.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.Step;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * Access tokens of Google Cloud by workload identity federation. The broker's token is exchanged
 * for a federated one, that for a token of the key's service account if it names one, and that for
 * one within the key's access boundary if it has one.
 */
public final class GoogleCloud implements AccessProvider {
    private static final Duration SHORTEST = Duration.ofSeconds(60);
    private static final Duration LONGEST = Duration.ofHours(12);

    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final GoogleTokens google;

    public GoogleCloud(
            BrokerIdentity identity,
            TokenDestinations destinations,
            Calls calls,
            InstantSource clock) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.google = new GoogleTokens(new GoogleCalls(calls), clock);
    }

    @Override
    public String type() {
        return "gcp";
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "GOOGLE_OAUTH_ACCESS_TOKEN", "AccessToken",
                "GOOGLE_TOKEN_EXPIRY", "Expiration",
                "GOOGLE_PROJECT_ID", "ProjectId");
    }

    @Override
    public Optional<String> target(JsonNode keySettings) {
        return GoogleKeySettings.target(keySettings);
    }

    @Override
    public boolean usesSharedIdentity(JsonNode providerSettings) {
        return tokens.shared();
    }

    @Override
    public MintResult mint(MintOrder order) {
        GoogleProviderSettings provider =
                GoogleProviderSettings.of(order.access().settings(), destinations);
        GoogleKeySettings key = GoogleKeySettings.of(order.keySettings());
        requireWithinLimits(order.duration());
        Secret shown = tokens.token(provider.sts(), token(order, provider, key));
        Step<GoogleToken> last =
                google.federated(order, provider, key, shown)
                        .then(federated ->
                                key.serviceAccount().isPresent()
                                        ? google.ofAccount(order, provider, key, federated)
                                        : new Done<>(federated))
                        .then(token ->
                                key.boundary()
                                        .map(boundary ->
                                                google.bounded(order, provider, boundary, token))
                                        .orElseGet(() -> new Done<>(token)));
        return switch (last) {
            case Done<GoogleToken>(GoogleToken token) -> credential(token, provider);
            case Stopped<GoogleToken>(MintResult.Failed failed) -> failed;
        };
    }

    /**
     * Google lets a federated token live as long as the token that it was given for, an hour at
     * most. So where it is the credential, the broker's token must not outlive what may be given.
     */
    private static TokenOrder token(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key) {
        TokenOrder usual =
                new TokenOrder(
                        order.tenant(),
                        order.key(),
                        order.mintId(),
                        provider.identityProvider(),
                        false,
                        Map.of());
        return key.serviceAccount().isPresent() ? usual : usual.livingAtMost(order.duration());
    }

    private static MintResult credential(GoogleToken token, GoogleProviderSettings provider) {
        if (token.expiresAt().isEmpty()) {
            return Calls.failed(
                    Reason.PROVIDER_ERROR,
                    "the answer doesn't say when the token expires",
                    provider.sts());
        }
        Instant expiry = token.expiresAt().get().truncatedTo(ChronoUnit.SECONDS);
        return new Minted(
                Map.of(
                        "AccessToken", token.text(),
                        "Expiration", new Secret(expiry.toString()),
                        "ProjectId", new Secret(provider.projectId())),
                expiry,
                HexFormat.of().formatHex(token.text().hash()));
    }

    private static void requireWithinLimits(Duration duration) {
        if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new UnusableSettingsException(
                    "a duration of %d s isn't within %d to %d s"
                            .formatted(
                                    duration.toSeconds(),
                                    SHORTEST.toSeconds(),
                                    LONGEST.toSeconds()));
        }
    }
}
