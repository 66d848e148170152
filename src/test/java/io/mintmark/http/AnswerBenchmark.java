package io.mintmark.http;

import io.mintmark.exchange.Credentials;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.KeyName;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What it takes to write the answer to a mint of one key. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AnswerBenchmark {
    private static final Instant NOW = Instant.parse("2026-03-04T05:06:07Z");

    private final Credentials credentials =
            new Credentials(
                    "repo:acme/app:ref:refs/heads/main",
                    NOW,
                    NOW.plusSeconds(3600),
                    Map.of(
                            new KeyName("deploy"),
                            Map.of(
                                    "AWS_ACCESS_KEY_ID", new Secret("ASIAIOSFODNN7EXAMPLE"),
                                    "AWS_SECRET_ACCESS_KEY", new Secret("k".repeat(40)),
                                    "AWS_SESSION_TOKEN", new Secret("t".repeat(800)),
                                    "AWS_REGION", new Secret("eu-central-1"))));

    /** The bytes that are sent. */
    @Benchmark
    public byte[] answer() {
        return Json.write(CredentialRoutes.body(credentials));
    }
}
