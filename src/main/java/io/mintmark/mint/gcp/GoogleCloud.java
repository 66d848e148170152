package io.mintmark.mint.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.credential.CredentialType;
import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.Step;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.mint.web.TimedToken;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.outbound.Secret;

import java.time.InstantSource;
import java.util.Map;

/**
 * Access tokens of Google Cloud by workload identity federation. The broker's token is exchanged
 * for a federated one, that for a token of the key's service account if it names one, and that for
 * one within the key's access boundary if it has one.
 */
public final class GoogleCloud implements AccessProvider {
    private static final int SHORTEST = 60;
    private static final int LONGEST = 43_200;

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
        this.google = new GoogleTokens(new GoogleCalls(calls), new TokenCalls(calls, clock));
    }

    @Override
    public CredentialType type() {
        return new GoogleCloudType();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        GoogleProviderSettings provider = GoogleProviderSettings.of(providerSettings, destinations);
        GoogleKeySettings key = GoogleKeySettings.of(keySettings);
        return new Prepared(
                key.serviceAccount().stream().toList(),
                tokens.shared(),
                order -> mint(order, provider, key));
    }

    private MintResult mint(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key) {
        var _ = order.seconds(SHORTEST, LONGEST);
        return tokens.showing(
                provider.sts(),
                token(order, provider, key),
                shown -> credential(order, provider, key, shown));
    }

    private MintResult credential(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key, Secret shown) {
        Step<TimedToken> last =
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
            case Done<TimedToken>(TimedToken token) ->
                    TokenCalls.credential(
                            token,
                            provider.sts(),
                            Map.of(
                                    "ProjectId",
                                    provider.projectId(),
                                    Minted.SCOPE,
                                    String.join(" ", key.scopes())));
            case Stopped<TimedToken>(MintResult.NotMinted why) -> why;
        };
    }

    /**
     * Google lets a federated token live as long as the token that it was given for, an hour at
     * most. So where it is the credential, the broker's token must not outlive what may be given.
     */
    private static TokenOrder token(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key) {
        TokenOrder usual = order.token(provider.identityProvider(), Map.of());
        return key.serviceAccount().isPresent() ? usual : usual.livingAtMost(order.duration());
    }
}
