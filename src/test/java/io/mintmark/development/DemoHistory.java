package io.mintmark.development;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;

import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A month of mints and refusals before the first start, so that charts, searches by time and
 * exports have something to show. The broker's own writer writes them, into a hash chain of their
 * own, which verifies like any other. The rows say what they are: their broker is called {@value
 * #BROKER}. The configuration that they rest on is dated {@link #BEFORE} them.
 */
final class DemoHistory {
    static final String BROKER = "demo-backdated";

    /** By how much the configuration is older than the first start. */
    static final Duration BEFORE = Duration.ofDays(31);

    private static final int HOURS = 30 * 24;

    /** The last hours are busy ones. */
    private static final int BUSY = 24;

    private static final int FEW_IN_AN_HOUR = 3;
    private static final Duration LIFETIME = Duration.ofMinutes(15);
    private static final int MOST_IN_AN_HOUR = 12;
    private static final int MINUTES = 60;

    private static final List<String> SUBJECTS =
            List.of("ci:web:main", "ci:api:main", "ci:nightly", "ci:docs:main");

    private final DatabaseLogin login;
    private final String issuer;
    private final DemoGrant grant;
    private final Random random = new Random(7);

    /** The grant of the past mints, and its key. */
    record DemoGrant(String key, GrantReference reference) {}

    DemoHistory(DatabaseLogin login, String issuer, DemoGrant grant) {
        this.login = login;
        this.issuer = issuer;
        this.grant = grant;
    }

    /** Writes the month that ends at this time. */
    void write(Instant end) {
        try (Database connections = new Database(login);
                AuditLog log =
                        new AuditLog(
                                        new PostgresEventStore(connections, BROKER),
                                        Duration.ofSeconds(5))
                                .start()) {
            for (Instant at : times(end)) {
                var _ = log.record(rows(at));
            }
        }
    }

    private List<Instant> times(Instant end) {
        List<Instant> times = new ArrayList<>();
        for (int hour = HOURS; hour > 0; hour--) {
            int many =
                    hour > BUSY
                            ? random.nextInt(FEW_IN_AN_HOUR)
                            : 2 + random.nextInt(MOST_IN_AN_HOUR);
            for (int i = 0; i < many; i++) {
                times.add(
                        end.minus(Duration.ofHours(hour))
                                .plus(Duration.ofMinutes((long) i * MINUTES / many))
                                .plusMillis(random.nextInt(30_000)));
            }
        }
        return times;
    }

    /** Most were issued; some were refused, and some failed. */
    private List<Event> rows(Instant at) {
        int chance = random.nextInt(20);
        if (chance == 0) {
            return List.of(mint(at, "laptop:eve", Optional.empty()).denied(at, "not_granted"));
        }
        MintEvents mint = mint(at, subject(), Optional.of(grant.reference()));
        Instant answered = at.plusMillis(20 + random.nextInt(200));
        Event outcome =
                chance == 1
                        ? mint.failed(answered, "provider_throttled", "Slow down.")
                        : mint.issued(
                                answered,
                                new Credential(
                                        Optional.of(mint.mintId().toString()),
                                        Optional.of(answered),
                                        answered.plus(LIFETIME)));
        return List.of(mint.requested(at, at.plus(LIFETIME)), outcome);
    }

    private String subject() {
        return SUBJECTS.get(random.nextInt(SUBJECTS.size()));
    }

    private MintEvents mint(Instant at, String subject, Optional<GrantReference> reference) {
        MintIds ids = new MintIds(InstantSource.fixed(at), random);
        return new MintEvents(
                ids.next(),
                new Caller(
                        "backdated-" + Long.toHexString(random.nextLong()),
                        InetAddress.getLoopbackAddress(),
                        Optional.of("mintmark demo")),
                new Subject(
                        Optional.of(new TenantName("demo")),
                        Optional.of(new IdpName("demo-idp")),
                        issuer,
                        Optional.of(subject),
                        Optional.empty(),
                        HexFormat.of().formatHex(new Secret(subject + at).hash()),
                        Optional.of("{}")),
                new KeyName(grant.key()),
                reference);
    }
}
