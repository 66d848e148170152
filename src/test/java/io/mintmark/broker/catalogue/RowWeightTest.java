package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.HotSpotDiagnosticMXBean;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.TenantSnapshot;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** What is read of a tenant takes no more of the heap than estimated. */
@Tag("heavy")
class RowWeightTest {
    private static final TenantName TENANT = new TenantName("acme");
    private static final long ALL = Long.MAX_VALUE;

    /** Of the heap, so that what else comes and goes there doesn't count. */
    private static final long MEASURED = 8L << 20;

    /** An estimate that is more times what is taken would refuse tenants for nothing. */
    private static final int USEFUL = 5;

    private static final int MEASUREMENTS = 3;

    /** The pom sets it to one. */
    private static final int COLLECTIONS =
            Integer.parseInt(
                    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                            .getVMOption("MarkSweepAlwaysCompactCount")
                            .getValue());

    private static final String SETUP =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('ci', 'acme', 'https://ci.example.com', '{acme}');
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'own', 'jwt', '{}'),
                   ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
            """;

    @AutoClose private TestDatabase database;
    private Database connections;
    private PostgresCatalogue catalogue;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        database.run(Who.ADMIN, SETUP);
        connections = database.closing(new Database(database.login(Who.APP)));
        catalogue = new PostgresCatalogue(connections);
    }

    /** Values of the claims of a key of type jwt. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '`',
            textBlock =
                    """
                    many empty objects   ¦ jsonb_build_object('c', (SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 250)))
                    many small objects   ¦ jsonb_build_object('c', (SELECT jsonb_agg(jsonb_build_object('n' || i, i)) FROM generate_series(1, 120) AS i))
                    many short texts     ¦ jsonb_build_object('c', (SELECT jsonb_agg('v' || i) FROM generate_series(1, 250) AS i))
                    many large numbers   ¦ jsonb_build_object('c', (SELECT jsonb_agg(1e300 + i) FROM generate_series(1, 40) AS i))
                    a long text          ¦ jsonb_build_object('c', repeat('x', 15000))
                    a long foreign text  ¦ jsonb_build_object('c', repeat('ł', 7500))
                    little               ¦ jsonb_build_object('a', 1)
                    """)
    void keys(String what, String claims) {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                SELECT 'acme', 'k' || n, 'own', 600,
                       jsonb_build_object('audience', 'https://api.example.com', 'claims', %s)
                  FROM generate_series(1, 100) AS n
                """
                        .formatted(claims));
        assertEstimated(what, () -> catalogue.tenant(TENANT, ALL), TenantSnapshot::bytes);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '`',
            textBlock =
                    """
                    the longest globs          ¦ 'a:' || n || repeat('x', 500) || '*'                ¦ '{}'
                    the longest foreign globs  ¦ 'a:' || n || repeat('ł', 500) || '*'                ¦ '{}'
                    globs with many stars      ¦ 'a:' || n || repeat('x*', 8)                        ¦ '{}'
                    usual globs                ¦ 'repo:acme/app' || n || ':*'                        ¦ '{"environment": "production"}'
                    many texts                 ¦ 'a:' || n || '*' ¦ jsonb_build_object('c', (SELECT jsonb_agg('v' || i) FROM generate_series(1, 250) AS i))
                    many claims                ¦ 'a:' || n || '*' ¦ (SELECT jsonb_object_agg('v' || i, i) FROM generate_series(1, 250) AS i)
                    many globs                 ¦ 'a:' || n || '*' ¦ jsonb_build_object('c', (SELECT jsonb_agg(jsonb_build_object('glob', 'v*' || i)) FROM generate_series(1, 120) AS i))
                    globs with stars           ¦ 'a:' || n || '*' ¦ jsonb_build_object('c', (SELECT jsonb_agg(jsonb_build_object('glob', 'v*x*y*z*' || i)) FROM generate_series(1, 120) AS i))
                    pointers                   ¦ 'a:' || n || '*' ¦ (SELECT jsonb_object_agg('/a/b/c/d/e' || i, i) FROM generate_series(1, 130) AS i)
                    longer pointers            ¦ 'a:' || n || '*' ¦ (SELECT jsonb_object_agg(repeat('/x', 120) || i, i) FROM generate_series(1, 14) AS i)
                    """)
    void glob_grants(String what, String subject, String claims) {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.subject_grant (tenant, idp, match, key, subject, claims)
                SELECT 'acme', 'ci', 'glob', 'api', %s, cast(%s AS jsonb)
                  FROM generate_series(1, 100) AS n
                """
                        .formatted(subject, claims));
        assertEstimated(what, () -> catalogue.tenant(TENANT, ALL), TenantSnapshot::bytes);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '`',
            textBlock =
                    """
                    nothing but the claims ¦ jsonb_build_object('n', n)
                    long claims            ¦ jsonb_build_object('n', n, 'c', repeat('x', 3900))
                    many claims            ¦ (SELECT jsonb_object_agg('v' || i, i + n) FROM generate_series(1, 250) AS i)
                    """)
    void grants_of_a_subject(String what, String claims) {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.subject_grant (tenant, idp, key, subject, claims)
                SELECT 'acme', 'ci', 'api', 'ci:main', %s FROM generate_series(1, 300) AS n
                """
                        .formatted(claims));
        assertEstimated(
                what,
                () -> catalogue.grants(TENANT, new IdpName("ci"), "ci:main", ALL),
                SubjectGrants::bytes);
    }

    @Test
    void identity_providers_with_long_lists_and_certificates() {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, ca_certificate, required_claims)
                SELECT 'ci' || n, 'acme', 'https://ci.example.com',
                       ARRAY(SELECT 'a' || n || ':' || i FROM generate_series(1, 500) AS i),
                       '-----BEGIN CERTIFICATE-----' || repeat('x', 30000),
                       jsonb_build_object('c', (SELECT jsonb_agg('v' || i) FROM generate_series(1, 250) AS i))
                  FROM generate_series(1, 20) AS n
                """);
        assertEstimated(
                "identity providers", () -> catalogue.tenant(TENANT, ALL), TenantSnapshot::bytes);
    }

    @Test
    void access_providers_with_many_targets() {
        database.run(
                Who.ADMIN,
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
                SELECT 'acme', 'own' || n, 'jwt', '{}',
                       ARRAY(SELECT 'a:' || i || '*x*y' FROM generate_series(1, 900) AS i)
                  FROM generate_series(1, 20) AS n;
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                SELECT 'acme', 'k' || n, 'own' || n, 600, '{"audience": "a:1zxzy"}'
                  FROM generate_series(1, 20) AS n
                """);
        assertEstimated(
                "access providers", () -> catalogue.tenant(TENANT, ALL), TenantSnapshot::bytes);
    }

    /**
     * Reads it often enough to be measured, and measures what is freed when all of it goes. Other
     * threads of the process free something now and then, so it is measured up to three times.
     */
    private static <T> void assertEstimated(
            String what, Supplier<T> read, ToLongFunction<T> bytes) {
        long estimated = bytes.applyAsLong(read.get());
        int copies = Math.toIntExact(Math.clamp(MEASURED / estimated, 2, 200));
        long[] taken =
                LongStream.generate(() -> (heapWith(copies, read) - heap()) / copies)
                        .limit(MEASUREMENTS)
                        .takeWhile(once -> estimated < once || estimated > once * USEFUL)
                        .toArray();
        assertTrue(
                taken.length < MEASUREMENTS,
                () ->
                        "%s: %,d estimated, %s taken"
                                .formatted(what, estimated, Arrays.toString(taken)));
    }

    private static long heapWith(int copies, Supplier<?> read) {
        List<?> kept = Stream.generate(read).limit(copies).toList();
        try {
            return heap();
        } finally {
            Reference.reachabilityFence(kept);
        }
    }

    /** The serial collector leaves some dead objects in place, except every so many times. */
    private static long heap() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
