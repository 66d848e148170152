package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;
import io.mintmark.provider.web.TimedToken;
import io.mintmark.provider.web.TokenCalls;

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
