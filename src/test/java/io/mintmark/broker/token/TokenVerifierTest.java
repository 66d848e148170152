package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.InvalidAudience;
import io.mintmark.base.verdict.TokenRefusal.TokenReplayed;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.base.verdict.Verdict.Passed;
import io.mintmark.base.verdict.Verdict.Refused;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/** What vectors can't say: the verifier's effects, its bounds, and what it keeps to itself. */
final class TokenVerifierTest {
    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");
    private static final int MUTATIONS = 5_000;
    private static final int HOSTILE = 5_000;

    @AutoClose private final IssuerStandIn issuer = IssuerStandIn.start();
    private final RememberedTokens used = new RememberedTokens();

    @Test
    void a_verified_token_tells_what_it_was_verified_for() {
        String text = token(Map.of("aud", "mintmark", "jti", "t-1", "team", "web"));
        Examination examination = verifier(provider("acme-ci", "mintmark")).examine(present(text));
        VerifiedToken token = passed(examination.verdict());
        assertEquals("acme-ci", token.provider().name().value());
        assertEquals("job-1", token.subject());
        assertEquals(Optional.of("t-1"), token.tokenId());
        assertEquals(NOW, token.issuedAt());
        assertEquals(NOW.plusSeconds(300), token.expiresAt());
        assertEquals("web", token.claims().path("team").textValue());
        assertArrayEquals(new Secret(text).hash(), token.hash());
        assertArrayEquals(token.hash(), examination.tokenHash());
    }

    @Test
    void nobody_can_change_a_verified_token() {
        VerifiedToken token =
                passed(
                        verifier(provider("acme-ci", "mintmark"))
                                .examine(present(token(Map.of("aud", "mintmark"))))
                                .verdict());
        token.claims().put("sub", "root");
        token.hash()[0]++;
        assertEquals("job-1", token.claims().path("sub").textValue());
        assertArrayEquals(token.hash(), token.hash());
    }

    @Test
    void neither_token_nor_claims_can_be_printed() {
        String text = token(Map.of("aud", "mintmark", "email", "jane@example.com"));
        Examination examination = verifier(provider("acme-ci", "mintmark")).examine(present(text));
        String printed = examination + " " + present(text) + " " + TestKey.parsed(text);
        assertFalse(printed.contains("jane"), printed);
        assertFalse(printed.contains(text.substring(text.lastIndexOf('.') + 1)), printed);
    }

    @Test
    void examining_again_does_not_use_a_token_up_and_redeeming_does() {
        TokenVerifier verifier = verifier(oneTime("acme-ci", "mintmark"));
        PresentedToken token = present(token(Map.of("aud", "mintmark", "jti", "t-1")));
        VerifiedToken first = passed(verifier.examine(token).verdict());
        VerifiedToken second = passed(verifier.examine(token).verdict());
        assertEquals(Map.of(), used.used());
        passed(verifier.redeem(first));
        assertEquals(new TokenReplayed(), refused(verifier.redeem(second)));
        assertEquals(Map.of("acme-ci t-1", NOW.plusSeconds(60)), used.used());
    }

    @Test
    void the_same_id_at_another_provider_is_another_token() {
        TokenVerifier verifier = verifier(oneTime("acme-ci", "a"), oneTime("globex-ci", "b"));
        for (String audience : List.of("a", "b")) {
            PresentedToken token = present(token(Map.of("aud", audience, "jti", "t-1")));
            passed(verifier.examine(token).verdict().then(verifier::redeem));
        }
        assertEquals(2, used.used().size());
    }

    @Test
    void ten_thousand_providers_of_one_issuer_cost_one_fetch() {
        IdentityProvider[] providers =
                IntStream.range(0, 10_000)
                        .mapToObj(i -> provider("idp-" + i, "audience-" + i))
                        .toArray(IdentityProvider[]::new);
        TokenVerifier verifier = verifier(providers);
        passed(verifier.examine(present(token(Map.of("aud", "audience-77")))).verdict());
        refusedAs(InvalidAudience.class, verifier, token(Map.of("aud", "nobody")));
        assertEquals(1, issuer.fetches());
    }

    @Test
    void a_token_for_nobody_is_checked_with_a_handful_of_sources_only() {
        IdentityProvider[] providers =
                IntStream.range(0, 50)
                        .mapToObj(i -> at("idp-" + i, "audience-" + i, issuer.url() + "/keys/" + i))
                        .toArray(IdentityProvider[]::new);
        TokenVerifier verifier = verifier(providers);
        try {
            verifier.examine(present(token(Map.of("aud", "nobody"))));
        } catch (Unavailable e) {
            // no keys are there
        }
        assertEquals(Signatures.MAX_SOURCES, issuer.fetches());
    }

    @Test
    void a_host_that_hangs_is_not_waited_for_where_other_keys_are_at_hand() {
        issuer.hang();
        IdentityProvider inline = inline("zzz-inline", "mintmark");
        IdentityProvider hanging = at("aaa-hanging", "other", issuer.url() + "/hanging");
        refusedAs(InvalidAudience.class, verifier(inline, hanging), token(Map.of("aud", "nobody")));
        assertEquals(0, issuer.fetches());
    }

    @Test
    void garbage_of_strangers_fetches_nothing() {
        TokenVerifier verifier = verifier(provider("acme-ci", "mintmark"));
        for (String text :
                List.of(
                        "a.b.c",
                        issuer.signExactly(Map.of("iss", "https://stranger.example")),
                        issuer.key()
                                .sign("{\"alg\":\"none\"}", "{\"iss\":\"" + issuer.url() + "\"}"),
                        issuer.key()
                                .sign("{\"alg\":\"PS512\",\"kid\":\"x\"}", claims("mintmark")))) {
            assertInstanceOf(Refused.class, verifier.examine(present(text)).verdict());
        }
        assertEquals(0, issuer.fetches());
    }

    @Test
    void no_mutation_of_a_token_passes_or_throws() {
        TokenVerifier verifier = withoutWaiting(inline("acme-ci", "mintmark"));
        String text = token(Map.of("aud", "mintmark"));
        Random random = new Random(7);
        String letters = "ABCabc019-_.=+/\"\n\u00e9\u0000";
        for (int i = 0; i < MUTATIONS; i++) {
            StringBuilder mutant = new StringBuilder(text);
            int at = random.nextInt(text.length());
            char letter = letters.charAt(random.nextInt(letters.length()));
            switch (random.nextInt(3)) {
                case 0 -> mutant.setCharAt(at, letter);
                case 1 -> mutant.insert(at, letter);
                default -> mutant.delete(at, at + 1 + random.nextInt(text.length() - at));
            }
            boolean same = mutant.toString().equals(text);
            Verdict<VerifiedToken> verdict = verifier.examine(present(mutant.toString())).verdict();
            assertTrue(same || verdict instanceof Refused<?>, mutant::toString);
        }
    }

    @Test
    void whatever_a_stranger_makes_up_is_refused() {
        TokenVerifier verifier = verifier(inline("acme-ci", "mintmark"));
        HostileTokens tokens = new HostileTokens(issuer.url(), "mintmark", issuer.key().id(), 11);
        for (int i = 0; i < HOSTILE; i++) {
            String text = tokens.next();
            assertInstanceOf(Refused.class, verifier.examine(present(text)).verdict(), text);
        }
    }

    @Test
    void whatever_an_issuer_signs_is_accepted_or_refused() {
        TokenVerifier verifier = verifier(inline("acme-ci", "mintmark"));
        HostileTokens tokens = new HostileTokens(issuer.url(), "mintmark", issuer.key().id(), 12);
        String header = "{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(issuer.key().id());
        int accepted = 0;
        for (int i = 0; i < HOSTILE; i++) {
            String text = issuer.key().sign(header, tokens.claims());
            accepted += verifier.examine(present(text)).verdict() instanceof Passed<?> ? 1 : 0;
        }
        assertTrue(accepted > 0 && accepted < HOSTILE / 2, accepted + " accepted");
    }

    @Test
    void no_log_at_any_level_has_a_token() {
        try (LogBook log = LogBook.open()) {
            TokenVerifier verifier = verifier(provider("acme-ci", "mintmark"));
            String good = token(Map.of("aud", "mintmark"));
            String bad = good.substring(0, good.length() - 4) + "AAAA";
            verifier.examine(present(good));
            verifier.examine(present(bad));
            verifier.examine(present(good.substring(1)));
            verifier.examine(present(token(Map.of("aud", "nobody"))));
            assertFalse(log.text().isEmpty());
            assertFalse(
                    log.text()
                            .contains(
                                    good.substring(
                                            good.indexOf('.') + 20, good.indexOf('.') + 60)));
            assertFalse(log.text().contains("job-1"));
        }
    }

    private TokenVerifier verifier(IdentityProvider... providers) {
        return verifier(InstantSource.fixed(NOW), providers);
    }

    /** Whenever an unknown {@code kid} comes, the keys may be fetched again. */
    private TokenVerifier withoutWaiting(IdentityProvider... providers) {
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        return verifier(
                () -> now.getAndUpdate(time -> time.plus(SourceKeys.BETWEEN_RENEWALS)), providers);
    }

    private TokenVerifier verifier(InstantSource ofTheKeys, IdentityProvider... providers) {
        return new TokenVerifier(
                new FixedProviders(List.of(providers)),
                new IssuerKeys(new GuardedHttp(new Destinations(List.of("127.0.0.1"))), ofTheKeys),
                used,
                new OwnIssuer("https://broker.example"),
                Clocks.of(InstantSource.fixed(NOW)));
    }

    private IdentityProvider provider(String name, String audience) {
        return provider(name, audience, issuer.keySource(), false);
    }

    private IdentityProvider oneTime(String name, String audience) {
        return provider(name, audience, issuer.keySource(), true);
    }

    private IdentityProvider inline(String name, String audience) {
        Optional<String> jwks = Optional.of(issuer.jwks());
        KeySource source = new KeySource(issuer.url(), jwks, Optional.empty(), Optional.empty());
        return provider(name, audience, source, false);
    }

    private IdentityProvider at(String name, String audience, String jwksUri) {
        Optional<String> uri = Optional.of(jwksUri);
        KeySource source = new KeySource(issuer.url(), Optional.empty(), uri, Optional.empty());
        return provider(name, audience, source, false);
    }

    private IdentityProvider provider(
            String name, String audience, KeySource source, boolean oneTime) {
        return TestProviders.of(
                name,
                "acme",
                source,
                oneTime ? Optional.of(Duration.ofMinutes(1)) : Optional.empty(),
                oneTime,
                audience);
    }

    private String token(Map<String, String> claims) {
        Map<String, Object> all = new HashMap<>(claims);
        all.put("sub", "job-1");
        all.put("iat", NOW.getEpochSecond());
        all.put("exp", NOW.getEpochSecond() + 300);
        return issuer.sign(all);
    }

    private String claims(String audience) {
        return "{\"iss\":\"%s\",\"aud\":\"%s\"}".formatted(issuer.url(), audience);
    }

    private static PresentedToken present(String text) {
        return new PresentedToken(new Secret(text));
    }

    private static void refusedAs(
            Class<? extends TokenRefusal> reason, TokenVerifier verifier, String text) {
        assertInstanceOf(reason, refused(verifier.examine(present(text)).verdict()));
    }

    private static VerifiedToken passed(Verdict<VerifiedToken> verdict) {
        return assertInstanceOf(Passed.class, verdict).value() instanceof VerifiedToken token
                ? token
                : fail("no token");
    }

    private static Object refused(Verdict<VerifiedToken> verdict) {
        return assertInstanceOf(Refused.class, verdict).refusal();
    }
}
