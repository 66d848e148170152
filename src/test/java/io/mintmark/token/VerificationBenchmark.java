package io.mintmark.token;

import com.nimbusds.jose.jwk.Curve;

import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.time.Clocks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What it takes to verify a token whose issuer's keys are at hand. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class VerificationBenchmark {
    private static final String ISSUER = "https://ci.example";
    private static final InstantSource CLOCK = InstantSource.system();

    @Param({"RS256", "ES256"})
    private String algorithm = "";

    private PresentedToken token = new PresentedToken(new Secret(""));
    private TokenVerifier verifier = verifier(List.of());

    /** An issuer's key, and a token that lives for a day. */
    @Setup
    public void sign() {
        TestKey key =
                algorithm.equals("RS256") ? TestKey.rsa("1", 2048) : TestKey.ec("1", Curve.P_256);
        verifier = verifier(List.of(provider(key)));
        long now = CLOCK.instant().getEpochSecond();
        token =
                new PresentedToken(
                        new Secret(
                                key.sign(
                                        "{\"alg\":\"%s\",\"kid\":\"1\"}".formatted(algorithm),
                                        "{\"iss\":\"%s\",\"aud\":\"mintmark\",\"sub\":\"ci:main\",\"iat\":%d,\"exp\":%d,\"ref\":\"refs/heads/main\",\"repository\":\"acme/app\"}"
                                                .formatted(ISSUER, now, now + 86_400))));
    }

    /** The verdict, which must not be a refusal: those are cheaper. */
    @Benchmark
    public Object verify() {
        return verifier.examine(token).verdict().map(VerifiedToken::subject);
    }

    private static IdentityProvider provider(TestKey key) {
        return new IdentityProvider(
                new IdpName("ci"),
                new TenantName("acme"),
                ISSUER,
                List.of("mintmark"),
                new KeySource(
                        ISSUER,
                        Optional.of("{\"keys\":[%s]}".formatted(key.publicJwk())),
                        Optional.empty(),
                        Optional.empty()),
                Set.of("RS256", "ES256"),
                ClaimConditions.NONE,
                Duration.ZERO,
                Optional.empty(),
                false,
                true);
    }

    private static TokenVerifier verifier(List<IdentityProvider> providers) {
        return new TokenVerifier(
                new FixedProviders(providers),
                new IssuerKeys(new GuardedHttp(new Destinations(List.of())), CLOCK),
                (_, _, _) -> true,
                OwnIssuer.NONE,
                Clocks.of(CLOCK));
    }
}
