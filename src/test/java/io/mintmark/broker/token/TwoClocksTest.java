package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Verdict;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A token's times on a replica whose clock differs from the database's by an allowed time. */
class TwoClocksTest {
    private static final Instant NOON = Instant.parse("2026-03-04T12:00:00Z");
    private static final TestKey KEY = TestKey.es256("key-1");
    private static final String ISSUER = "https://ci.example";

    /**
     * Times in seconds from the moment that is being judged, by the one clock; the other differs by
     * 20 s.
     */
    @ParameterizedTest
    @CsvSource({
        // replica, database, iat, nbf, exp, verdict
        "  0,   0, -100, -100,  1, accepted",
        "-20,   0, -100, -100, -1, token_expired",
        "  0, -20, -100, -100, -1, token_expired",
        "-20,   0, -100, -100,  1, accepted",
        " 20,   0, -100,    1, 90, token_not_yet_valid",
        "  0,  20, -100,    1, 90, token_not_yet_valid",
        " 20,   0, -100,    0, 90, accepted",
        "  0,  20, -100,    0, 90, accepted",
        " 20,   0,   61, -100, 90, token_not_yet_valid",
        "  0,  20,   61, -100, 90, token_not_yet_valid",
        " 20,   0,   60, -100, 90, accepted",
        "-20,   0, -301, -400, 90, token_too_old",
        "  0, -20, -301, -400, 90, token_too_old",
        "-20,   0, -300, -400, 90, accepted",
    })
    void ends_are_judged_by_the_later_clock_and_beginnings_by_the_earlier(
            int replica, int database, int iat, int nbf, int exp, String verdict) {
        Clocks clocks = new Clocks(() -> NOON.plusSeconds(replica), () -> 0);
        var _ = clocks.asking(() -> NOON.plusSeconds(database), time -> time);

        assertEquals(verdict, verdict(clocks, token(iat, nbf, exp)));
    }

    private static String verdict(Clocks clocks, String token) {
        var keys = new IssuerKeys(new GuardedHttp(new Destinations(List.of())), clocks.own());
        var verifier =
                new TokenVerifier(
                        new FixedProviders(List.of(provider())),
                        keys,
                        new RememberedTokens(),
                        OwnIssuer.NONE,
                        clocks);
        return switch (verifier.examine(new PresentedToken(new Secret(token))).verdict()) {
            case Verdict.Passed<VerifiedToken> _ -> "accepted";
            case Verdict.Refused<VerifiedToken>(TokenRefusal refusal) -> refusal.word();
            case Verdict.Refused<VerifiedToken>(var other) -> other.toString();
        };
    }

    private static String token(int iat, int nbf, int exp) {
        Map<String, Long> times = new HashMap<>();
        Map.of("iat", iat, "nbf", nbf, "exp", exp)
                .forEach((claim, at) -> times.put(claim, NOON.plusSeconds(at).getEpochSecond()));
        return KEY.sign(
                "{\"alg\":\"ES256\",\"kid\":\"key-1\"}",
                "{\"iss\":\"%s\",\"aud\":\"mintmark\",\"sub\":\"job\",\"iat\":%d,\"nbf\":%d,\"exp\":%d}"
                        .formatted(ISSUER, times.get("iat"), times.get("nbf"), times.get("exp")));
    }

    private static IdentityProvider provider() {
        return TestProviders.of(
                "ci",
                "acme",
                new KeySource(
                        ISSUER,
                        Optional.of("{\"keys\":[%s]}".formatted(KEY.publicJwk())),
                        Optional.empty(),
                        Optional.empty()),
                Optional.of(Duration.ofMinutes(5)),
                false,
                "mintmark");
    }
}
