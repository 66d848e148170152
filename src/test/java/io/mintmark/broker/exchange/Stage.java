package io.mintmark.broker.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Kind;
import io.mintmark.audit.Rejections;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.TestKey;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.provider.AccessProviders;

import org.slf4j.MDC;

import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/** The use case with everything around it in memory, so that any moment can be made to go wrong. */
final class Stage implements AutoCloseable {

    private static final TestKey SIGNER = TestKey.es256("key-1");
    static final String SUBJECT = "repo:acme/shop";
    static final Instant START = Instant.parse("2026-03-04T05:06:07Z");
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    final AtomicReference<Instant> now = new AtomicReference<>(START);

    /** How much time passes before each reading of the clock that only goes forward. */
    final AtomicReference<Duration> perReading = new AtomicReference<>(Duration.ZERO);

    /** Whether each call of a provider that was counted gave a credential. */
    final List<Boolean> providerAnswers = new CopyOnWriteArrayList<>();

    final MemoryTenant tenant = new MemoryTenant(SIGNER);
    final MemoryLog store = new MemoryLog(tenant);
    final FakeCloud cloud = new FakeCloud(now::get);
    private final AuditLog log = new AuditLog(store, Duration.ofSeconds(5)).start();
    private final MintIds ids = new MintIds(now::get, new SecureRandom());
    private final Rejections rejections = new Rejections(store, ids, now::get).start();
    private final Set<String> usedTokens = ConcurrentHashMap.newKeySet();
    private final Clocks clocks = new Clocks(now::get, this::nanos);

    final Catalogue catalogue = new Catalogue(tenant, Duration.ofDays(1), clocks, System::nanoTime);
    final Exchange exchange = exchange();

    /** The database's clock is behind, as far as it may be and some. */
    Stage() {
        tenant.databaseClock(() -> now().minusSeconds(20));
    }

    private Instant now() {
        return Objects.requireNonNull(now.get());
    }

    /** Goes on with the time of the stage, as a clock does while a process is paused. */
    private long nanos() {
        Instant later =
                now.updateAndGet(time -> time.plus(Objects.requireNonNull(perReading.get())));
        return System.nanoTime() + Duration.between(START, later).toNanos();
    }

    @Override
    public void close() {
        log.close();
        rejections.close();
        MDC.clear();
    }

    /** Happens while an intent is being written. */
    void onIntent(Runnable happens) {
        store.meanwhile(event -> {
            if (event.kind() == Kind.REQUESTED) {
                happens.run();
            }
        });
    }

    /** The credentials, of a request that isn't refused. */
    Credentials minted(String... keys) {
        return switch (exchange.mint(request(keys))) {
            case Verdict.Passed<Credentials>(Credentials credentials) -> credentials;
            case Verdict.Refused<Credentials>(Refusal refusal) ->
                    throw new AssertionError("refused: " + refusal);
        };
    }

    /** The refusal of a request that is refused. */
    Refusal refusal(String... keys) {
        return switch (exchange.mint(request(keys))) {
            case Verdict.Passed<Credentials> _ -> throw new AssertionError("not refused");
            case Verdict.Refused<Credentials>(Refusal refusal) -> refusal;
        };
    }

    MintRequest request(String... keys) {
        return request(RequestPermit.NONE, keys);
    }

    MintRequest request(RequestPermit permit, String... keys) {
        return new MintRequest(
                "request-1",
                InetAddress.getLoopbackAddress(),
                Optional.empty(),
                new PresentedToken(new Secret(token())),
                KeySelection.named(Arrays.stream(keys).map(KeyName::new).toList()),
                Optional.empty(),
                CredentialFormat.OF_KEYS,
                permit,
                Optional.empty());
    }

    /** A request for the list of keys with the same token. */
    static KeyList.Request list(MintRequest request) {
        return new KeyList.Request(
                request.requestId(),
                request.address(),
                request.userAgent(),
                request.token(),
                RequestPermit.NONE);
    }

    private String token() {
        return SIGNER.sign(
                "{\"alg\":\"ES256\",\"kid\":\"key-1\"}",
                "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"%s\",\"jti\":\"1\",\"iat\":%d,\"exp\":%d}"
                        .formatted(
                                MemoryTenant.ISSUER,
                                MemoryTenant.AUDIENCE,
                                SUBJECT,
                                START.getEpochSecond(),
                                START.plusSeconds(600).getEpochSecond()));
    }

    private Exchange exchange() {
        OwnIssuer own = new OwnIssuer("https://broker.example");
        KnownIssuers issuers = new KnownIssuers(tenant, own, Duration.ofDays(1), System::nanoTime);
        return new Exchange(
                new TokenVerifier(
                        issuers,
                        new IssuerKeys(
                                new GuardedHttp(new Destinations(List.of("127.0.0.1"))), now::get),
                        (_, id, _) -> usedTokens.add(id),
                        own,
                        clocks),
                issuers,
                catalogue,
                new AccessProviders(List.of(cloud), now::get),
                log,
                rejections,
                ids,
                clocks,
                TIMEOUT,
                new Listening(),
                (_, _) -> List.of());
    }

    private final class Listening implements MintListener {
        @Override
        public void shortLived(TenantName tenant, String type) {
            // nobody counts
        }

        @Override
        public void tokenExamined(Duration taken) {}

        @Override
        public void providerAnswered(String type, boolean minted, Duration taken) {
            providerAnswers.add(minted);
        }

        @Override
        public void ended(TenantName tenant, String type, Kind outcome) {}

        @Override
        public void glassBroken(TenantName tenant) {}
    }
}
