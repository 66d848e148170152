package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.sql.StoredGrants;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;

/**
 * Mints, spread evenly over a span of time: 20 tenants with 20 keys each ({@code figures.tenants}
 * and {@code figures.keys} change that), 5,000 subjects and one that mints a tenth of all, all of
 * them granted. Of a thousand, ten are denied, ten fail, two of them nobody knows how; of 20,000
 * one is never resolved.
 */
final class ManyMints {
    static final String BUSY = "job:main";
    static final String RARE = "rare";

    private static final Duration LIFE = Duration.ofHours(1);
    private static final int TENANTS = Integer.getInteger("figures.tenants", 20);
    private static final int KEYS = Integer.getInteger("figures.keys", 20);
    private static final String PARTITIONS =
            """
            SET ROLE mintmark_owner;
            SELECT audit.create_partition((now() - n * interval '1 month')::date)
              FROM generate_series(0, 4) AS n;
            RESET ROLE;
            """;
    private static final String GRANTS = "SELECT id, tenant, key FROM broker.subject_grant";

    private final long count;
    private final Instant begin;
    private final Duration span;
    private final Map<String, GrantReference> grants = new HashMap<>();

    /**
     * @param auditor who reads the grants of {@link #configuration}
     */
    ManyMints(long count, Instant begin, Instant end, Connection auditor) throws SQLException {
        this.count = count;
        this.begin = begin;
        this.span = Duration.between(begin, end);
        Map<Long, String> keys = keys(auditor);
        StoredGrants.references(auditor, List.copyOf(keys.keySet()))
                .forEach((id, reference) -> grants.put(keys.get(id), reference));
    }

    /** The key of each grant, by the grant's id. */
    private static Map<Long, String> keys(Connection auditor) throws SQLException {
        Map<Long, String> keys = new HashMap<>();
        try (Statement statement = auditor.createStatement();
                ResultSet rows = statement.executeQuery(GRANTS)) {
            while (rows.next()) {
                keys.put(
                        rows.getLong("id"), rows.getString("tenant") + "/" + rows.getString("key"));
            }
        }
        return keys;
    }

    long count() {
        return count;
    }

    /** The rows of a mint, by its number. */
    List<Event> mint(long number) {
        Instant at = begin.plusMillis(span.toMillis() * number / count);
        MintEvents events = events(number, at);
        if (number % 100 == 1) {
            return List.of(events.denied(at, "not_granted"));
        }
        Event requested = events.requested(at, at.plus(LIFE).plusSeconds(70));
        if (number % 20_000 == 7) {
            return List.of(requested);
        }
        Instant later = at.plusMillis(40);
        return List.of(requested, outcome(events, number, later));
    }

    private static Event outcome(MintEvents events, long number, Instant at) {
        if (number % 500 == 3) {
            return events.failed(at, "provider_timeout", "no response before the deadline");
        }
        if (number % 125 == 3) {
            return events.failed(at, "provider_rejected", "AccessDenied");
        }
        return events.issued(
                at,
                new Credential(Optional.of(credential(number)), Optional.of(at), at.plus(LIFE)));
    }

    /** The id of the credential of a mint; like those of AWS, in no order. */
    static String credential(long number) {
        return "ASIA%016X".formatted(new Random(number).nextLong());
    }

    private MintEvents events(long number, Instant at) {
        Random random = new Random(number);
        int tenant = random.nextInt(TENANTS);
        int drawn = random.nextInt(KEYS);
        String key = number % 10_000 == 5 ? RARE : "key-" + drawn;
        Caller caller =
                new Caller(
                        new UUID(random.nextLong(), random.nextLong()).toString(),
                        InetAddress.getLoopbackAddress(),
                        Optional.of("actions/runner 2.330.0 (linux; x64)"));
        Subject subject =
                new Subject(
                        Optional.of(new TenantName("tenant-" + tenant)),
                        Optional.of(new IdpName("idp-" + tenant)),
                        "https://issuer.example.com",
                        Optional.of(number % 10 == 0 ? BUSY : "job:" + random.nextInt(5_000)),
                        Optional.of(new UUID(random.nextLong(), random.nextLong()).toString()),
                        "%016x".formatted(random.nextLong()).repeat(4),
                        Optional.of("{\"ref\":\"refs/heads/main\",\"repository\":\"acme/shop\"}"));
        return new MintEvents(
                new MintIds(InstantSource.fixed(at), random).next(),
                caller,
                subject,
                new KeyName(key),
                Optional.ofNullable(grants.get("tenant-%d/%s".formatted(tenant, key))));
    }

    /**
     * The tenants and their grants, of which half are used, and partitions for the past.
     *
     * @param age of the configuration
     */
    static String configuration(Duration age, String tenantAdmin) throws IOException {
        return PARTITIONS
                + Files.readString(Path.of("src/test/resources/figures/mints.sql"))
                        .replace("{tenants}", Integer.toString(TENANTS))
                        .replace("{keys}", Integer.toString(KEYS))
                        .replace("{rare}", RARE)
                        .replace("{age}", age.toSeconds() + " seconds")
                        .replace("{admin}", tenantAdmin);
    }
}
