package io.mintmark.provider.awssts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.ManualClock;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.sts.KeptKeySet;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Signing keys change while credentials are minted without a pause, at providers that keep the
 * broker's key set: one as AWS does, and one that doesn't look again for half a day.
 */
class KeyRotationTest {
    private static final Destinations ALLOWED = new Destinations(List.of("127.0.0.1"));
    private static final String ISSUER = "https://broker.example";
    private static final int ROUNDS = 10;

    @TempDir Path directory;

    private final ManualClock clock = new ManualClock(Instant.parse("2026-07-29T12:00:00Z"));
    private final ReadWriteLock time = new ReentrantReadWriteLock();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger rounds = new AtomicInteger();
    private final List<String> failures = new CopyOnWriteArrayList<>();

    @AutoClose
    private final StsClients clients =
            new StsClients(new TenantHttpClients(ALLOWED), MintingBroker.AMBIENT);

    private BuiltInIdentity identity;
    private AccessProviders providers;
    @AutoClose private StsStandIn aws;
    @AutoClose private StsStandIn patient;

    @BeforeEach
    void start() {
        new KeyDirectory(directory).withP256("2026-01-01").withRsa("2025-01-01", 2048);
        identity = new BuiltInIdentity(ISSUER, directory, clock);
        aws = StsStandIn.aws(ISSUER, KeptKeySet.asAws(identity::keySet, clock), clock);
        patient = StsStandIn.aws(ISSUER, KeptKeySet.patient(identity::keySet, clock), clock);
        providers =
                new AccessProviders(
                        List.of(
                                new AwsSts(
                                        identity,
                                        new TokenDestinations(ALLOWED),
                                        new StsCaller(clients, MintingBroker.calls(ALLOWED)))),
                        InstantSource.system());
    }

    @Test
    void no_mint_fails_while_a_key_is_added_takes_over_and_is_removed() throws Exception {
        Thread mints = Thread.ofVirtual().start(this::mintWithoutPause);
        awaitRounds();
        String former = signer();

        new KeyDirectory(directory).withP256("2026-07-31");
        identity.reload(Set.of());
        awaitRounds();
        assertEquals(former, signer());

        while (clock.instant().isBefore(Instant.parse("2026-07-31T13:00:00Z"))) {
            pass(Duration.ofHours(1));
        }
        String next = signer();
        assertTrue(!next.equals(former));

        Files.delete(directory.resolve("2026-01-01.pem"));
        identity.reload(Set.of());
        awaitRounds();
        assertTrue(!identity.keySet().contains(former), "a removed key is still published");
        for (int hour = 0; hour < 24; hour++) {
            pass(Duration.ofHours(1));
        }

        over.set(true);
        mints.join();
        assertEquals(List.of(), failures);
        assertEquals(next, signer());
    }

    @Test
    void a_key_that_signs_at_once_is_refused_where_key_sets_are_kept() {
        mint(aws);
        mint(patient);

        new KeyDirectory(directory).withP256("2026-07-29");
        identity.reload(Set.of());
        mint(aws);
        assertEquals(List.of(), failures);

        mint(patient);
        assertEquals(1, failures.size());
        assertTrue(failures.getFirst().contains("No key of the issuer has the token's kid"));
    }

    private void mintWithoutPause() {
        while (!over.get()) {
            time.readLock().lock();
            try {
                mint(aws);
                mint(patient);
            } finally {
                time.readLock().unlock();
            }
            rounds.incrementAndGet();
        }
    }

    private void mint(StsStandIn endpoint) {
        MintResult result =
                Orders.of(
                                "aws-sts",
                                "{'region':'eu-central-1','endpoint':'%s'}"
                                        .formatted(endpoint.endpoint()),
                                "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}")
                        .mint(providers);
        if (result instanceof Failed failed) {
            failures.add("%s: %s".formatted(clock.instant(), failed));
        }
    }

    /** Between two mints, or a token would age by hours on its way. */
    private void pass(Duration duration) {
        time.writeLock().lock();
        try {
            clock.pass(duration);
        } finally {
            time.writeLock().unlock();
        }
        int before = rounds.get();
        Eventually.holds(() -> rounds.get() > before);
    }

    private void awaitRounds() {
        int before = rounds.get();
        Eventually.holds(() -> rounds.get() >= before + ROUNDS);
    }

    /** The key that signed the last token. */
    private String signer() throws ParseException {
        String token = aws.calls().getLast().parameter("WebIdentityToken").orElseThrow();
        return SignedJWT.parse(token).getHeader().getKeyID();
    }
}
