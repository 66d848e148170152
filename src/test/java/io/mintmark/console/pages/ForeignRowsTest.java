package io.mintmark.console.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.PatientViewers;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.ViewerDatabase.Reading;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.history.HistoryFilter;
import io.mintmark.console.pages.history.HistoryPage;
import io.mintmark.console.pages.keys.KeyPage;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.Wanted;
import io.mintmark.console.pages.overview.OverviewPage;
import io.mintmark.console.pages.subjects.SubjectPage;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What a tenant's lead is shown, and what is looked at for it, is as if nobody else had anything.
 */
@Tag("every-postgres")
class ForeignRowsTest {
    private static final String SUBJECT = "repo:acme/shop:ref:refs/heads/main";
    private static final String REQUEST = "constant";
    private static final String CREDENTIAL = "ASIAEVERYWHERE";

    /** For plans that differ with what the planner knows; what grows, grows by thousands. */
    private static final long MORE_OR_LESS = 200;

    private static final String REFUSED_AND_OPEN =
            "(1, 2, 'denied', 'not_granted'), (2, 1, 'requested', NULL)";
    private static final String WHOLE = ", (3, 1, 'requested', NULL), (3, 2, 'issued', NULL)";

    /** The outcomes alone, which is what a search by them meets. */
    private static final String OUTCOMES = ", (3, 2, 'issued', NULL), (4, 2, 'issued', NULL)";

    private static final String LOOKED_AT =
            """
            SELECT sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid))
              FROM pg_class AS c
             WHERE c.relnamespace IN ('audit'::regnamespace, 'broker'::regnamespace)
            """;

    private static final TypedTime NOW = new TypedTime("", Optional.empty(), Optional.empty());

    private static TestDatabase database;
    private static ViewerDatabase viewers;
    private static ConsoleWorld world;
    private static Instant now;
    private static Map<String, String> shownBefore;
    private static Map<String, Long> lookedAtBefore;

    @BeforeAll
    static void setUp() {
        now = Instant.now();
        database = TestDatabase.migrated();
        database.admin(ConsoleWorld.script("world.sql"));
        database.run(
                Who.APP, events("acme", "acme-github", "10 hours", 40, REFUSED_AND_OPEN + WHOLE));
        viewers = PatientViewers.of(database.login(Who.CONSOLE), 1);
        world = new ConsoleWorld(database.login(Who.CONSOLE), Optional.empty(), () -> now);
        database.runAsSuperuser("ANALYZE");
        shownBefore = each(paths(), ForeignRowsTest::shown);
        lookedAtBefore = each(names(), ForeignRowsTest::lookedAt);
        database.run(
                Who.APP,
                events("globex", "globex-gitlab", "2 hours", 11_000, REFUSED_AND_OPEN + OUTCOMES));
        database.admin(foreignConfiguration());
        database.runAsSuperuser("ANALYZE");
    }

    @AfterAll
    static void close() {
        world.close();
        viewers.close();
        database.close();
    }

    /** Of the same subject, key, request and credential in every tenant. */
    private static String events(String tenant, String idp, String ago, int count, String kinds) {
        return """
        INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
               provider, provider_type, grant_id, grant_revision, reason, credential_id, issued_at, expires_at,
               token_hash, broker)
        SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '700' || mint || '8'
                || lpad(n::text, 15, '0'))::uuid, step, kind, at, '%1$s', '%2$s', '%3$s', 'https://issuer.example',
               '%4$s', 'deploy', 'aws', 'aws-sts', 1, 1, reason,
               CASE kind WHEN 'issued' THEN '%5$s' END, CASE kind WHEN 'issued' THEN at END,
               CASE WHEN kind <> 'denied' THEN now() + interval '6 hours' END,
               CASE kind WHEN 'requested' THEN decode(repeat('ab', 32), 'hex') END, 'b'
          FROM (SELECT n, now() - interval '%6$s' + n * interval '0.5 seconds' AS at
                  FROM generate_series(1, %7$d) AS n) AS t
         CROSS JOIN (VALUES %8$s) AS k (mint, step, kind, reason)
        """
                .formatted(REQUEST, tenant, idp, SUBJECT, CREDENTIAL, ago, count, kinds);
    }

    private static String foreignConfiguration() {
        return """
        UPDATE broker.tenant SET max_grants = 10000 WHERE name = 'globex';
        INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims)
        SELECT 'globex', 'globex-gitlab', CASE match WHEN 'glob' THEN 'repo:acme/**' ELSE '%1$s' END, match, 'deploy',
               jsonb_build_object('n', n)
          FROM generate_series(1, 1000) AS n, unnest(ARRAY['exact', 'glob']) AS match;
        INSERT INTO broker.tenant (name) SELECT 'other-' || n FROM generate_series(1, 20) AS n;
        INSERT INTO broker.blocked_subject (tenant, subject, reason, until)
        SELECT 'other-' || n %% 20 + 1, '%1$s:' || n, 'INC-1', now() + n * interval '1 hour'
          FROM generate_series(1, 6000) AS n
        """
                .formatted(SUBJECT);
    }

    private static <T> Map<String, T> each(List<String> names, Function<String, T> question) {
        return names.stream().collect(Collectors.toMap(Function.identity(), question));
    }

    private static List<String> paths() {
        String subject = Links.encoded(SUBJECT);
        return List.of(
                "/",
                "/mints",
                "/mints?q=" + subject,
                "/mints?q=" + REQUEST,
                "/mints?q=" + CREDENTIAL,
                "/mints?q=deploy",
                "/mints?q=" + "ab".repeat(32),
                "/mints?subject=" + subject,
                "/mints?subject=" + subject + "&outcome=issued",
                "/mints?key=deploy",
                "/mints?tenant=acme&key=deploy",
                "/mints?q=nothing-of-this-name",
                "/mints?q=acme",
                "/mints?subject=" + subject + "&order=oldest",
                "/subjects?q=shop",
                "/explain",
                "/mints?outcome=denied",
                "/mints?outcome=rejected",
                "/mints?outcome=refused",
                "/mints?outcome=minted",
                "/mints?outcome=live",
                "/mints?outcome=issued",
                "/mints?outcome=unresolved",
                "/mints?tenant=globex&subject=" + subject,
                "/mints/download?subject=" + subject,
                "/mints/download?q=" + REQUEST,
                "/mints/download?outcome=denied",
                "/subjects?q=" + subject,
                "/keys/acme/deploy",
                "/tenants/acme");
    }

    private static String shown(String path) {
        HttpResponse<String> answer = world.get("lead", path);
        assertEquals(200, answer.statusCode(), path);
        return answer.body().replaceFirst("Request <code>[^<]*", "");
    }

    private static List<String> names() {
        return List.of(
                "overview", "suggestions",
                "a subject", "a key",
                "any id", "a request",
                "a credential", "a key's mints",
                "a key's mints of a tenant", "of another tenant",
                "a key of another tenant", "a history of another tenant",
                "all", "refusals",
                "withheld", "unresolved");
    }

    private static Reading<?> reading(String name) {
        return switch (name) {
            case "overview" ->
                    connection -> OverviewPage.view(connection, Period.DAY, Optional.empty(), now);
            case "suggestions" ->
                    connection ->
                            Suggestions.of(
                                    connection,
                                    "acme",
                                    MintSearch.latestSubjects(connection, Suggestions.LATEST, now));
            case "a subject" ->
                    connection ->
                            SubjectPage.of(connection, Optional.of(SUBJECT), Optional.empty(), now);
            case "a key" ->
                    connection ->
                            KeyPage.of(
                                    connection,
                                    "acme",
                                    "deploy",
                                    Optional.empty(),
                                    NOW,
                                    Optional.empty(),
                                    now);
            case "any id" -> search("", SUBJECT, "");
            case "a request" -> search("", REQUEST, "");
            case "a credential" -> search("", CREDENTIAL, "");
            case "a key's mints" -> search("", "deploy", "");
            case "a key's mints of a tenant" -> search("acme", "deploy", "");
            case "of another tenant" -> search("globex", SUBJECT, "");
            case "a key of another tenant" ->
                    connection ->
                            KeyPage.of(
                                    connection,
                                    "globex",
                                    "deploy",
                                    Optional.empty(),
                                    NOW,
                                    Optional.empty(),
                                    now);
            case "a history of another tenant" ->
                    connection ->
                            HistoryPage.of(
                                    connection,
                                    Optional.of("globex"),
                                    Optional.empty(),
                                    Optional.empty(),
                                    HistoryFilter.NONE,
                                    Long.MAX_VALUE,
                                    now);
            case "all" -> search("", "", "");
            case "refusals" -> search("", "", "denied");
            case "withheld" -> search("", "", "withheld");
            case "unresolved" -> search("", "", "unresolved");
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Reading<?> search(String tenant, String any, String outcome) {
        Wanted wanted =
                new Wanted(
                        some(any),
                        some(tenant),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        some(outcome),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty());
        return connection -> MintSearch.find(connection, wanted, 50, now);
    }

    private static Optional<String> some(String text) {
        return Optional.of(text).filter(given -> !given.isEmpty());
    }

    /** Rows of tables and entries of indexes. */
    private static long lookedAt(String name) {
        return viewers.read(
                ConsoleWorld.LEAD,
                connection -> {
                    long before = soFar(connection);
                    reading(name).from(connection);
                    return soFar(connection) - before;
                });
    }

    private static long soFar(Connection connection) throws SQLException {
        return Query.of(LOOKED_AT).first(connection, row -> row.getLong(1)).orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("paths")
    void a_lead_is_shown_the_same_whatever_others_have(String path) {
        assertEquals(shownBefore.get(path), shown(path));
    }

    @ParameterizedTest
    @MethodSource("names")
    void no_more_is_looked_at_for_a_lead_where_others_have_more(String name) {
        long before = lookedAtBefore.getOrDefault(name, 0L);

        long after = lookedAt(name);

        assertTrue(after <= before + MORE_OR_LESS, "%d before, %d now".formatted(before, after));
    }
}
