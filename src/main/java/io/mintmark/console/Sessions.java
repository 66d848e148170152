package io.mintmark.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.TokenExpired;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.broker.token.KeySource;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.Role;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.broker.token.VerifiedToken;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The people whom ID tokens identify. A session's token is verified at every request, as the broker
 * verifies its clients' tokens, with the identity provider's current keys.
 */
final class Sessions {
    private static final Set<String> ALGORITHMS =
            Set.of(
                    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                    "EdDSA");

    /** The number of ended sessions that are remembered. Each takes some 200 bytes. */
    private static final int REMEMBERED = 10_000;

    private static final Duration LONGEST = Duration.ofDays(1);

    /** The maximum length of a name in a line of the log. */
    private static final int LONGEST_NAME = 100;

    private final String clientId;
    private final IdentityProviders issuer;
    private final IssuerKeys keys;
    private final InstantSource clock;
    private final LoggedOutSessions ended;

    /** Hashes of the states of logins that came back, each of which works once. */
    private final Cache<String, Boolean> redeemed =
            Caffeine.newBuilder().maximumSize(REMEMBERED).expireAfterWrite(LONGEST).build();

    Sessions(LoginEndpoints endpoints, String clientId, IssuerKeys keys, InstantSource clock) {
        this(endpoints, clientId, keys, clock, REMEMBERED);
    }

    /**
     * @param remembered the number of ended sessions to remember
     */
    Sessions(
            LoginEndpoints endpoints,
            String clientId,
            IssuerKeys keys,
            InstantSource clock,
            int remembered) {
        this.clientId = clientId;
        this.issuer = new OnlyProvider(provider(endpoints, clientId));
        this.keys = keys;
        this.clock = clock;
        this.ended = new LoggedOutSessions(remembered, clock);
    }

    private static IdentityProvider provider(LoginEndpoints endpoints, String clientId) {
        return new IdentityProvider(
                new IdpName("console"),
                new TenantName("console"),
                endpoints.issuer(),
                List.of(clientId),
                new KeySource(
                        endpoints.issuer(),
                        Optional.empty(),
                        Optional.of(endpoints.keys().toString()),
                        Optional.empty()),
                ALGORITHMS,
                Set.of(),
                ClaimConditions.NONE,
                Duration.ZERO,
                Optional.empty(),
                false,
                Set.of(Role.SUBJECT),
                true,
                "");
    }

    /**
     * Returns the token's owner; none if the token is expired, ended, or not for this console.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the identity provider's keys can't be fetched
     */
    Optional<Viewer> viewer(String idToken) {
        return live(idToken).map(Sessions::viewer);
    }

    /**
     * Ends a session.
     *
     * @return the token's owner; none if there was no session to end
     * @throws io.mintmark.base.verdict.Unavailable if the identity provider's keys can't be fetched
     */
    Optional<Viewer> end(String idToken) {
        Optional<VerifiedToken> token = live(idToken);
        token.ifPresent(ended::add);
        return token.map(Sessions::viewer);
    }

    /**
     * Whether the identity provider issued this token to this console, be it expired by now.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the identity provider's keys can't be fetched
     */
    boolean isOurs(String idToken) {
        return switch (examined(idToken, clock)) {
            case Verdict.Passed<VerifiedToken>(VerifiedToken token) -> isForUs(token);
            case Verdict.Refused<VerifiedToken>(TokenExpired(Instant expiredAt, _)) ->
                    accepted(idToken, InstantSource.fixed(expiredAt.minusSeconds(1))).isPresent();
            case Verdict.Refused<VerifiedToken> _ -> false;
        };
    }

    private Optional<VerifiedToken> live(String idToken) {
        return accepted(idToken, clock).filter(token -> !ended.contains(token));
    }

    private Optional<VerifiedToken> accepted(String idToken, InstantSource at) {
        return switch (examined(idToken, at)) {
            case Verdict.Passed<VerifiedToken>(VerifiedToken token) when isForUs(token) ->
                    Optional.of(token);
            case Verdict.Passed<VerifiedToken> _, Verdict.Refused<VerifiedToken> _ ->
                    Optional.empty();
        };
    }

    private Verdict<VerifiedToken> examined(String idToken, InstantSource at) {
        return new TokenVerifier(issuer, keys, (_, _, _) -> false, OwnIssuer.NONE, Clocks.of(at))
                .examine(new PresentedToken(new Secret(idToken)))
                .verdict();
    }

    /**
     * The reason why a token gives no session, for the log; empty if it gives one.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the identity provider's keys can't be fetched
     */
    Optional<String> objection(String idToken) {
        return switch (examined(idToken, clock)) {
            case Verdict.Passed<VerifiedToken>(VerifiedToken token) when !isForUs(token) ->
                    Optional.of(
                            "the claim azp names another client, or is missing although the token has several audiences");
            case Verdict.Passed<VerifiedToken>(VerifiedToken token) when ended.contains(token) ->
                    Optional.of("this session was ended");
            case Verdict.Passed<VerifiedToken> _ -> Optional.empty();
            case Verdict.Refused<VerifiedToken>(TokenRefusal.MalformedJwt(String fault)) ->
                    Optional.of("malformed_jwt: " + fault);
            case Verdict.Refused<VerifiedToken>(TokenRefusal.WrongTokenType(String sign)) ->
                    Optional.of("wrong_token_type: " + sign);
            case Verdict.Refused<VerifiedToken>(Refusal refusal) -> Optional.of(refusal.word());
        };
    }

    /** OpenID Connect Core 1.0 section 3.1.3.7, points 4 and 5. */
    private boolean isForUs(VerifiedToken token) {
        JsonNode party = token.claims().path("azp");
        return party.isMissingNode()
                ? token.claims().path("aud").size() <= 1
                : clientId.equals(party.textValue());
    }

    /** Whether this state comes back for the first time. */
    boolean redeem(String state) {
        return redeemed.asMap().putIfAbsent(hash(state), true) == null;
    }

    private static String hash(String text) {
        return HexFormat.of().formatHex(new Secret(text).hash());
    }

    private static Viewer viewer(VerifiedToken token) {
        JsonNode claims = token.claims();
        boolean hasAddress =
                claims.path("email").isTextual()
                        && !claims.path("email").textValue().isBlank()
                        && claims.path("email_verified").asBoolean(false);
        String name = hasAddress ? claims.path("email").textValue() : token.subject();
        return new Viewer(printed(name), claims.toString());
    }

    private static String printed(String name) {
        String line = VisibleText.of(name);
        return line.length() > LONGEST_NAME ? line.substring(0, LONGEST_NAME) + "…" : line;
    }

    /** The identity provider that people log in at. */
    private record OnlyProvider(IdentityProvider provider) implements IdentityProviders {
        @Override
        public boolean knows(String issuer) {
            return provider.issuer().equals(issuer);
        }

        @Override
        public List<IdentityProvider> trusting(String issuer, Set<String> audiences) {
            return knows(issuer) && provider.audiences().stream().anyMatch(audiences::contains)
                    ? List.of(provider)
                    : List.of();
        }

        @Override
        public List<IdentityProvider> listed(String issuer) {
            return knows(issuer) ? List.of(provider) : List.of();
        }

        @Override
        public List<String> listedIssuers() {
            return List.of(provider.issuer());
        }

        @Override
        public List<Listed> listed() {
            return List.of(new Listed(provider.name(), provider.issuer()));
        }

        @Override
        public List<Login> logins(TenantName tenant) {
            return List.of();
        }

        @Override
        public List<Login> logins() {
            return List.of();
        }

        @Override
        public Optional<String> tokenIssuer(TenantName tenant) {
            return Optional.empty();
        }
    }
}
