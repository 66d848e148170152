package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.SeenClaims;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What replicas have cached of tenants is what the database says, as soon as they have looked once
 * more, whatever they cached at whatever moment, and whichever table was edited.
 */
class CachedCatalogueTest {
    private static final int EDITS = 250;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> TENANTS = List.of("acme", "globex");
    private static final List<String> SUBJECTS = List.of("ci:main", "ci:pull");
    private static final List<KeyName> KEYS = List.of(new KeyName("api"), new KeyName("report"));

    /** Edits of each table that a replica caches; {@code %1$s} is a tenant, {@code %2$d} 0 to 3. */
    private static final Map<String, List<String>> CACHED =
            new TreeMap<>(
                    Map.of(
                            "tenant",
                            List.of(
                                    "UPDATE broker.tenant SET enabled = NOT enabled WHERE name = '%1$s'",
                                    "UPDATE broker.tenant SET max_calls = 20 + %2$d WHERE name = '%1$s'",
                                    "UPDATE broker.tenant SET max_requests = 600 + %2$d WHERE name = '%1$s'"),
                            "access_provider",
                            List.of(
                                    "UPDATE broker.access_provider SET enabled = NOT enabled WHERE tenant = '%1$s'"),
                            "provider_type",
                            List.of(
                                    "UPDATE broker.provider_type SET min_duration = 60 + 100 * %2$d WHERE type = 'jwt'"),
                            "key",
                            List.of(
                                    "UPDATE broker.key SET enabled = NOT enabled WHERE tenant = '%1$s' AND name = 'report'",
                                    "UPDATE broker.key SET max_duration = 600 + %2$d WHERE tenant = '%1$s'",
                                    "UPDATE broker.key SET settings = '{\"audience\": \"https://api%2$d.example.com\"}' WHERE tenant = '%1$s'"),
                            "subject_grant",
                            List.of(
                                    "UPDATE broker.subject_grant SET enabled = NOT enabled WHERE tenant = '%1$s'",
                                    "UPDATE broker.subject_grant SET max_duration = 500 + %2$d WHERE tenant = '%1$s' AND match = 'glob'",
                                    "DELETE FROM broker.subject_grant WHERE tenant = '%1$s' AND subject = 'ci:main'",
                                    """
                                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                                    VALUES ('%1$s', '%1$s', 'ci:main', 'report') ON CONFLICT DO NOTHING
                                    """),
                            "blocked_subject",
                            List.of(
                                    "DELETE FROM broker.blocked_subject",
                                    """
                                    INSERT INTO broker.blocked_subject (tenant, idp, subject, reason)
                                    VALUES ('%1$s', '%1$s', 'ci:main', 'by edit %2$d') ON CONFLICT DO NOTHING
                                    """,
                                    """
                                    INSERT INTO broker.blocked_subject (subject, match, reason)
                                    VALUES ('ci:p*', 'glob', 'by edit %2$d') ON CONFLICT DO NOTHING
                                    """),
                            "access_rule",
                            List.of(
                                    "UPDATE broker.access_rule SET enabled = NOT enabled WHERE tenant = '%1$s'",
                                    "UPDATE broker.access_rule SET key = 'api' WHERE tenant = '%1$s'",
                                    "UPDATE broker.access_rule SET key = 'report' WHERE tenant = '%1$s'")));

    /** Identity providers have a test and a cache of their own; the others are read at each use. */
    private static final Set<String> ELSEWHERE =
            Set.of(
                    "identity_provider",
                    "shared_issuer",
                    "tenant_admin",
                    "console_access",
                    "known_issuer",
                    "grant_review",
                    "ended_credential",
                    "access_approver",
                    "access_request",
                    "access_decision");

    @AutoClose private TestDatabase database;
    private List<Catalogue> replicas;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        for (String tenant : TENANTS) {
            database.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('%1$s');
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    VALUES ('%1$s', '%1$s', 'https://%1$s.example', '{%1$s}');
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('%1$s', 'own', 'jwt', '{}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('%1$s', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                           ('%1$s', 'report', 'own', 600, '{"audience": "https://report.example.com"}');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                    VALUES ('%1$s', '%1$s', 'ci:main', 'exact', 'api'),
                           ('%1$s', '%1$s', 'ci:p*', 'glob', 'report');
                    INSERT INTO broker.access_rule (tenant, idp, subject, match, key, max_access, break_glass)
                    VALUES ('%1$s', '%1$s', 'ci:*', 'glob', 'api', 3600, true);
                    """
                            .formatted(tenant));
        }
        database.runAsSuperuser("ALTER TABLE broker.access_rule DISABLE TRIGGER USER");
        replicas = List.of(replica(Duration.ofDays(1)), replica(Duration.ofDays(1)));
    }

    private Catalogue replica(Duration staleness) {
        Database connections = database.closing(database.pool());
        return new Catalogue(
                new PostgresCatalogue(connections),
                staleness,
                Clocks.of(Instant::now),
                System::nanoTime);
    }

    @Test
    void every_table_is_edited_here_or_known_not_to_be_cached_here() {
        Set<String> known = new HashSet<>(CACHED.keySet());
        known.addAll(ELSEWHERE);
        assertEquals(
                known,
                Set.copyOf(
                        database.column(
                                """
                                SELECT c.relname FROM pg_class AS c
                                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                                """)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 20_261_128})
    void after_any_edits_both_replicas_agree_with_the_database(long seed) {
        Random random = new Random(seed);
        Catalogue uncached = replica(Duration.ZERO);
        Set<SortedMap<String, String>> seen = new HashSet<>();
        for (int edit = 0; edit < EDITS; edit++) {
            edit(random);
            Catalogue looking = replicas.get(random.nextInt(2));
            var _ = answers(looking); // before it has looked again
            if (random.nextInt(3) == 0) {
                looking.refresh();
            }
            if (random.nextInt(5) == 0) {
                SortedMap<String, String> stored = answers(uncached);
                seen.add(stored);
                for (Catalogue replica : replicas) {
                    replica.refresh();
                    assertEquals(
                            stored, answers(replica), "seed %d, edit %d".formatted(seed, edit));
                }
            }
        }
        assertTrue(seen.size() > EDITS / 10, "the edits change what is answered: " + seen.size());
    }

    private void edit(Random random) {
        List<String> tables = List.copyOf(CACHED.keySet());
        String table = tables.get(random.nextInt(tables.size()));
        List<String> edits = CACHED.getOrDefault(table, List.of());
        String sql =
                edits.get(random.nextInt(edits.size()))
                        .formatted(TENANTS.get(random.nextInt(TENANTS.size())), random.nextInt(4));
        if (table.equals("provider_type")) {
            database.runAsSuperuser(sql); // an admin may not
        } else {
            database.admin(sql);
        }
    }

    /** All that a replica answers about each subject of each tenant. */
    private static SortedMap<String, String> answers(Catalogue catalogue) {
        SortedMap<String, String> answers = new TreeMap<>();
        for (String tenant : TENANTS) {
            for (String subject : SUBJECTS) {
                Entitlements of =
                        catalogue.entitlements(
                                new TenantName(tenant),
                                new Parties(
                                        new Party(
                                                new IdpName(tenant),
                                                subject,
                                                new SeenClaims.OfToken(JSON.createObjectNode()),
                                                ClaimConditions.NONE),
                                        Optional.empty(),
                                        Optional.empty()));
                answers.put(tenant + " " + subject, described(of).toString());
            }
        }
        return answers;
    }

    private static List<Object> described(Entitlements of) {
        List<Object> answers = new ArrayList<>();
        of.mintable(TimeBounds.of(Instant.now()))
                .forEach((key, granted) -> {
                    answers.add(granted);
                    answers.add(granted.grantDigest());
                    answers.add(granted.key().settings());
                });
        answers.add(of.areBlocked());
        answers.add(of.maxCalls());
        answers.add(of.maxRequests());
        answers.add(of.externalId());
        answers.add(KEYS.stream().filter(of::haveKey).toList());
        answers.add(of.requestable(KEYS));
        return answers;
    }
}
