package io.mintmark.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.audit.VisibleText;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.ClaimConditions;
import io.mintmark.token.IdentityProvider;
import io.mintmark.token.IdentityProviders;
import io.mintmark.token.IssuerKeys;
import io.mintmark.token.KeySource;
import io.mintmark.token.OwnIssuer;
import io.mintmark.token.PresentedToken;
import io.mintmark.token.TokenVerifier;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Who a session's ID token is of. It is verified at every request as the broker verifies its
 * clients' tokens, with the keys that the identity provider has now.
 */
final class Sessions {
    private static final Set<String> ALGORITHMS =
            Set.of(
                    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                    "EdDSA");
    private static final int REMEMBERED = 10_000;
    private static final Duration LONGEST = Duration.ofDays(1);

    /** Names are for a line of the log. */
    private static final int LONGEST_NAME = 100;

    private final String clientId;
    private final TokenVerifier verifier;

    /** Hashes of the tokens whose sessions were ended here before they ended by themselves. */
    private final Cache<String, Boolean> ended =
            Caffeine.newBuilder().maximumSize(REMEMBERED).expireAfterWrite(LONGEST).build();

    /** States of logins that came back, each of which works once. */
    private final Cache<String, Boolean> redeemed =
            Caffeine.newBuilder().maximumSize(REMEMBERED).expireAfterWrite(LONGEST).build();

    Sessions(LoginEndpoints endpoints, String clientId, IssuerKeys keys, InstantSource clock) {
        this.clientId = clientId;
        this.verifier =
                new TokenVerifier(
                        new OnlyProvider(provider(endpoints, clientId)),
                        keys,
                        (_, _, _) -> false,
                        OwnIssuer.NONE,
                        clock);
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
                ClaimConditions.NONE,
                Duration.ZERO,
                Optional.empty(),
                false,
                true);
    }

    /**
     * Whoever the token is of; nobody if it is expired, ended, or not for this console.
     *
     * @throws io.mintmark.verdict.Unavailable if the identity provider's keys can't be had
     */
    Optional<Viewer> viewer(String idToken) {
        return switch (verifier.examine(new PresentedToken(new Secret(idToken))).verdict()) {
            case Verdict.Passed<VerifiedToken>(VerifiedToken token)
                    when isForUs(token) && !isEnded(token) ->
                    Optional.of(viewer(token));
            case Verdict.Passed<VerifiedToken> _, Verdict.Refused<VerifiedToken> _ ->
                    Optional.empty();
        };
    }

    /** OpenID Connect Core 1.0 section 3.1.3.7, points 4 and 5. */
    private boolean isForUs(VerifiedToken token) {
        JsonNode party = token.claims().path("azp");
        return party.isMissingNode() || clientId.equals(party.textValue());
    }

    private boolean isEnded(VerifiedToken token) {
        return ended.getIfPresent(HexFormat.of().formatHex(token.hash())) != null;
    }

    /** From now on this token is nobody's. */
    void end(String idToken) {
        ended.put(HexFormat.of().formatHex(new Secret(idToken).hash()), true);
    }

    /** Whether this state comes back for the first time. */
    boolean redeem(String state) {
        return redeemed.asMap().putIfAbsent(state, true) == null;
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

    /** The one that people log in at. */
    private record OnlyProvider(IdentityProvider provider) implements IdentityProviders {
        @Override
        public boolean knows(String issuer) {
            return provider.issuer().equals(issuer);
        }

        @Override
        public List<IdentityProvider> trusting(String issuer, Collection<String> audiences) {
            return knows(issuer) && provider.audiences().stream().anyMatch(audiences::contains)
                    ? List.of(provider)
                    : List.of();
        }

        @Override
        public List<IdentityProvider> listed(String issuer) {
            return knows(issuer) ? listed() : List.of();
        }

        @Override
        public List<IdentityProvider> listed() {
            return List.of(provider);
        }
    }
}
