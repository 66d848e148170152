package io.mintmark.postgres.log;

import io.mintmark.audit.Chain;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintIds;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.TenantName;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What it takes to make the row of an event, linked into its chain by its hash. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class EventRowBenchmark {
    private static final Instant NOW = Instant.parse("2026-03-04T05:06:07Z");

    private final EventRows rows = new EventRows("replica-1");
    private final Chain chain = Chain.ofThisRun();
    private final Event event =
            new MintEvents(
                            new MintIds(InstantSource.system(), new SecureRandom()).next(),
                            new Caller(
                                    "0f4b0c0e-6f0a-4d5c-9a31-1b7d6a1c2b3d",
                                    InetAddress.getLoopbackAddress(),
                                    Optional.of("aws-sdk-java/2.57.8 md/io#sync")),
                            new Subject(
                                    Optional.of(new TenantName("acme")),
                                    Optional.of(new IdpName("ci")),
                                    "https://ci.example",
                                    Optional.of("repo:acme/app:ref:refs/heads/main"),
                                    Optional.of("token-1"),
                                    "0".repeat(64),
                                    Optional.of("{\"ref\":\"refs/heads/main\"}")),
                            new KeyName("deploy"),
                            Optional.of(
                                    new GrantReference(
                                            new ProviderName("aws"),
                                            "aws-sts",
                                            4711,
                                            17,
                                            3,
                                            "cd".repeat(32))))
                    .issued(
                            NOW,
                            new Credential(
                                    Optional.of("ASIAIOSFODNN7EXAMPLE"),
                                    Optional.of(NOW),
                                    NOW.plusSeconds(3600)));

    /** A group of one. */
    @Benchmark
    public String row() {
        return rows.json(List.of(event), chain.draft());
    }
}
