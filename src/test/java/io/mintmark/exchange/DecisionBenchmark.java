package io.mintmark.exchange;

import io.mintmark.grant.Catalogue;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.Secret;
import io.mintmark.time.Clocks;
import io.mintmark.time.TimeBounds;
import io.mintmark.token.FixedProviders;
import io.mintmark.token.IssuerKeys;
import io.mintmark.token.OwnIssuer;
import io.mintmark.token.PresentedToken;
import io.mintmark.token.TestKey;
import io.mintmark.token.TokenVerifier;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Verdict;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What it takes to decide which keys a token's subject may mint, each by a grant of its own. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class DecisionBenchmark {
    private static final String SUBJECT = "repo:acme/app:ref:refs/heads/main";
    private static final Instant NOW = Instant.parse("2026-03-04T05:06:07Z");
    private static final TestKey SIGNER = TestKey.es256("1");

    @Param({"1", "10", "100"})
    private int grants;

    private Catalogue catalogue = catalogue(1);
    private VerifiedToken token = token();

    /** Reads the tenant, once. */
    @Setup
    public void read() {
        catalogue = catalogue(grants);
        token = token();
    }

    @Benchmark
    public Object decide() {
        return catalogue.entitlements(token).mintable(TimeBounds.of(NOW));
    }

    private static Catalogue catalogue(int grants) {
        MemoryTenant tenant = new MemoryTenant(SIGNER);
        for (int i = 0; i < grants; i++) {
            tenant.key("key-" + i).grant(SUBJECT, "key-" + i);
        }
        return new Catalogue(
                tenant, Duration.ofDays(1), Clocks.of(InstantSource.fixed(NOW)), System::nanoTime);
    }

    private static VerifiedToken token() {
        var clock = InstantSource.fixed(NOW);
        var verifier =
                new TokenVerifier(
                        new FixedProviders(
                                List.of(
                                        new MemoryTenant(SIGNER)
                                                .provider(MemoryTenant.IDP)
                                                .orElseThrow())),
                        new IssuerKeys(new GuardedHttp(new Destinations(List.of())), clock),
                        (_, _, _) -> true,
                        OwnIssuer.NONE,
                        Clocks.of(clock));
        String text =
                SIGNER.sign(
                        "{\"alg\":\"ES256\",\"kid\":\"1\"}",
                        "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"%s\",\"iat\":%d,\"exp\":%d,\"ref\":\"refs/heads/main\"}"
                                .formatted(
                                        MemoryTenant.ISSUER,
                                        MemoryTenant.AUDIENCE,
                                        SUBJECT,
                                        NOW.getEpochSecond(),
                                        NOW.getEpochSecond() + 60));
        return switch (verifier.examine(new PresentedToken(new Secret(text))).verdict()) {
            case Verdict.Passed<VerifiedToken>(VerifiedToken verified) -> verified;
            case Verdict.Refused<VerifiedToken>(var refusal) ->
                    throw new IllegalStateException(refusal.toString());
        };
    }
}
