package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/**
 * Two replicas answer over HTTP what the database says, whatever was edited and whatever they had
 * cached: they are asked before an edit, while it is committed, between it and their next look at
 * the database, and just after a start.
 */
@Tag("heavy")
class ReplicasAgreeTest {
    private static final long SEED = Long.getLong("replicas.seed", 20_261_129);
    private static final int EDITS = Integer.getInteger("replicas.edits", 400);

    /** A poll is due twice a second; the machine may be busy. */
    private static final Duration SOON = Duration.ofSeconds(10);

    private static final List<String> TENANTS =
            IntStream.range(0, 12).mapToObj("team-%d"::formatted).toList();
    private static final List<String> SUBJECTS = List.of("ci:main", "ci:pull");
    private static final List<String> KEYS = List.of("api", "report");

    /** After so many edits, one of the replicas is started anew. */
    private static final int RESTART = 50;

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final IssuerStandIn other = IssuerStandIn.start();
    private final Random random = new Random(SEED);
    private final List<RunningBroker> replicas = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();
    private final SortedMap<String, Integer> refused = new TreeMap<>();
    private TestDatabase database;

    @BeforeEach
    void start() {
        database = TestDatabase.migrated();
        for (String tenant : TENANTS) {
            database.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('%1$s');
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    VALUES ('ci-%1$s', '%1$s', '%2$s', '{mintmark-%1$s}');
                    INSERT INTO broker.access_provider (tenant, name, type) VALUES ('%1$s', 'own', 'jwt');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('%1$s', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                           ('%1$s', 'report', 'own', 600, '{"audience": "https://report.example.com"}');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                    VALUES ('%1$s', 'ci-%1$s', 'ci:main', 'exact', 'api'), ('%1$s', 'ci-%1$s', 'ci:*', 'glob', 'report');
                    INSERT INTO broker.access_rule (tenant, idp, subject, match, key, approvals, max_access, break_glass)
                    VALUES ('%1$s', 'ci-%1$s', 'ci:*', 'glob', 'api', 1, 3600, true);
                    INSERT INTO broker.access_approver (rule, role_name)
                    SELECT r.id, session_user FROM broker.access_rule AS r WHERE r.tenant = '%1$s';
                    """
                            .formatted(tenant, issuer.url()));
        }
        replicas.add(RunningBroker.on(database));
        replicas.add(RunningBroker.on(database));
    }

    @AfterEach
    void stop() {
        replicas.forEach(RunningBroker::close);
        database.close();
        issuer.close();
        other.close();
    }

    @Test
    void every_table_is_edited() {
        assertEquals(
                AnyEdit.BY_TABLE.keySet(),
                Set.copyOf(
                        database.column(
                                """
                                SELECT c.relname FROM pg_class AS c
                                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                                """)));
    }

    @Test
    void whatever_is_edited_both_replicas_soon_answer_what_the_database_says() {
        int changed = 0;
        for (int edit = 1; edit <= EDITS; edit++) {
            String tenant = one(TENANTS);
            RunningBroker asked = one(replicas);
            if (random.nextBoolean()) {
                var _ = answers(asked, tenant); // else it may be cold there
            }
            CompletableFuture<?> during =
                    random.nextBoolean()
                            ? CompletableFuture.runAsync(
                                    () -> answers(asked, tenant), Thread::startVirtualThread)
                            : CompletableFuture.completedFuture(null);
            changed += edit(tenant);
            if (random.nextBoolean()) {
                var _ = answers(one(replicas), tenant); // before the next look
            }
            during.join();
            if (edit % RESTART == 0) {
                restart(edit / RESTART % 2);
            }
            if (random.nextInt(4) == 0) {
                agree(tenant, edit);
            }
        }
        TENANTS.forEach(tenant -> agree(tenant, EDITS));
        System.out.printf(
                "%d edits, of which %d changed rows and %s were refused; %d different answers; seed %d%n",
                EDITS, changed, refused, seen.size(), SEED);
        assertTrue(changed > EDITS / 2, "most edits change rows: " + changed);
        assertTrue(seen.size() > EDITS / 20, "edits change what is answered: " + seen.size());
    }

    private <T> T one(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Returns how many of these statements changed a row. */
    private int edit(String tenant) {
        String table = one(List.copyOf(AnyEdit.BY_TABLE.keySet()));
        String sql =
                one(AnyEdit.BY_TABLE.getOrDefault(table, List.of()))
                        .formatted(
                                tenant,
                                random.nextInt(10),
                                random.nextInt(3) == 0 ? other.url() : issuer.url());
        long before = changes();
        try {
            if (AnyEdit.BY_SUPERUSER.contains(table)) {
                database.runAsSuperuser(sql);
            } else {
                database.admin(sql);
            }
        } catch (IllegalStateException e) {
            refused.merge(table, 1, Integer::sum);
        }
        return changes() > before ? 1 : 0;
    }

    private long changes() {
        return Long.parseLong(database.value("SELECT count(*) FROM audit.config_change"));
    }

    private void restart(int replica) {
        replicas.get(replica).close();
        replicas.set(replica, RunningBroker.on(database));
    }

    private void agree(String tenant, int edit) {
        String stored = stored(tenant);
        seen.add(stored.replace(tenant, ""));
        String when = "seed %d, edit %d of %s".formatted(SEED, edit, tenant);
        for (RunningBroker replica : replicas) {
            Eventually.holds(
                    SOON,
                    () -> List.of(when, stored, answers(replica, tenant)),
                    compared -> compared.get(1).equals(compared.getLast()));
        }
    }

    /** What the database says each subject of a tenant gets, by the functions for admins. */
    private String stored(String tenant) {
        return String.join(
                "\n",
                database.column(
                        """
                        WITH idp AS (
                            SELECT p.name, p.listed, p.issuer,
                                   p.enabled AND t.enabled AND p.issuer = '%2$s' AND 'mintmark-%1$s' = ANY (p.audiences) AS accepted
                              FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
                             WHERE p.name = 'ci-%1$s'
                        ), explained AS (
                            SELECT s.subject, e.key, e.granted AND idp.accepted AS granted, idp.accepted, k.description, k.settings,
                                   (SELECT max(w.max_duration) FROM broker.what_can_mint(idp.name, s.subject) AS w WHERE w.key = e.key) AS duration
                              FROM idp
                             CROSS JOIN unnest('{ci:main,ci:pull}'::text[]) AS s (subject)
                             CROSS JOIN LATERAL broker.explain(idp.name, s.subject) AS e
                              JOIN broker.key AS k ON k.tenant = '%1$s' AND k.name = e.key
                        )
                        SELECT 'listed ' || coalesce((SELECT idp.issuer FROM idp JOIN broker.identity_provider AS p ON p.name = idp.name
                                                                                 JOIN broker.tenant AS t ON t.name = p.tenant
                                                       WHERE idp.listed AND p.enabled AND t.enabled), 'no') AS answer, '' AS place
                        UNION ALL
                        SELECT e.subject || ' keys ' || CASE WHEN bool_and(e.accepted) THEN coalesce(string_agg(
                                   format('%%s %%s %%s;', e.key, e.description, e.duration), '' ORDER BY e.key) FILTER (WHERE e.granted), '') ELSE '401' END,
                               e.subject
                          FROM explained AS e GROUP BY e.subject
                        UNION ALL
                        SELECT format('%%s %%s %%s', e.subject, e.key, CASE WHEN NOT e.accepted THEN '401' WHEN e.granted THEN e.settings ->> 'audience' ELSE 'no' END),
                               e.subject || ' ' || e.key
                          FROM explained AS e
                         ORDER BY place
                        """
                                .formatted(tenant, issuer.url())));
    }

    /** What a replica answers. */
    private String answers(RunningBroker replica, String tenant) {
        List<String> answers = new ArrayList<>();
        answers.add("listed " + listed(replica, tenant));
        for (String subject : SUBJECTS) {
            String token = issuer.sign(subject, "mintmark-" + tenant);
            answers.add(subject + " keys " + keys(replica.keys(token)));
            for (String key : KEYS) {
                answers.add(subject + " " + key + " " + minted(replica.mint(token, key), key));
            }
        }
        return String.join("\n", answers);
    }

    private static String listed(RunningBroker replica, String tenant) {
        return StreamSupport.stream(
                        replica.get("/credentials/idp-providers")
                                .body()
                                .path("providers")
                                .spliterator(),
                        false)
                .filter(each -> each.path("name").asText().equals("ci-" + tenant))
                .map(each -> each.path("issuer").asText())
                .findFirst()
                .orElse("no");
    }

    private static String keys(Answer answer) {
        StringBuilder keys = new StringBuilder(answer.status() == 401 ? "401" : "");
        for (JsonNode key : answer.body().path("keys")) {
            keys.append(key.path("name").asText())
                    .append(' ')
                    .append(key.path("description").asText())
                    .append(' ')
                    .append(key.path("maxDuration").asInt())
                    .append(';');
        }
        return keys.toString();
    }

    /** The audience of a token that was minted, or the reason why none was. */
    private static String minted(Answer answer, String key) {
        return answer.status() == 200
                ? Unchecked.call(() ->
                        SignedJWT.parse(answer.at("/credentials/" + key + "/ACCESS_TOKEN"))
                                .getJWTClaimsSet()
                                .getAudience()
                                .getFirst())
                : answer.status() == 401 ? "401" : "no";
    }
}
