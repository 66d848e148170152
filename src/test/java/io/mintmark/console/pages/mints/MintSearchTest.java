package io.mintmark.console.pages.mints;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.PatientViewers;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.pages.mints.MintSearch.Found;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Every mint is found by each of its ids, page by page, none twice and none left out. */
@Tag("every-postgres")
class MintSearchTest {
    /** More than are looked at for one page that leaves most of them out. */
    private static final String MANY =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer,
                   subject, key, reason, broker)
            SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000' || '8'
                    || lpad(n::text, 15, '0'))::uuid, 2, 'denied', at, 'flood', 'globex', 'globex-gitlab',
                   'https://gitlab.globex.example', 'flood', 'deploy', 'not_granted', 'b'
              FROM (SELECT n, now() - interval '2 hours' + n * interval '300 milliseconds' AS at
                      FROM generate_series(1, 12000) AS n) AS t
            """;

    /** Older than those. */
    private static final String ONE_OF_A_RARE_KEY =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer,
                   subject, key, reason, broker)
            SELECT (left(audit.first_mint_id(at)::text, 14) || '7000-8000-000000000001')::uuid, 2, 'denied', at, 'once',
                   'globex', 'globex-gitlab', 'https://gitlab.globex.example', 'once', 'rare', 'not_granted', 'b'
              FROM (SELECT now() - interval '3 hours' AS at) AS t
            """;

    @AutoClose private static TestDatabase database;
    private static ViewerDatabase viewers;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        database.run(Who.APP, MANY);
        database.run(Who.APP, ONE_OF_A_RARE_KEY);
        viewers = database.closing(PatientViewers.of(database.login(Who.CONSOLE), 1));
    }

    private static Wanted wanted(String q, String tenant, String key, String outcome) {
        return new Wanted(
                some(q),
                some(tenant),
                Optional.empty(),
                Optional.empty(),
                some(key),
                some(outcome),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static Optional<String> some(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private static Found find(Viewer viewer, Wanted wanted, int most) {
        return viewers.read(
                viewer, connection -> MintSearch.find(connection, wanted, most, Instant.now()));
    }

    /** All pages, however many of them find nothing. */
    private static List<String> all(Viewer viewer, Wanted wanted, int most) {
        List<String> ids = new ArrayList<>();
        Wanted page = wanted;
        while (true) {
            Found found = find(viewer, page, most);
            found.lines().forEach(line -> ids.add(line.id()));
            if (found.next().isEmpty()) {
                return ids;
            }
            page =
                    new Wanted(
                            page.any(),
                            page.tenant(),
                            page.subject(),
                            page.actor(),
                            page.key(),
                            page.outcome(),
                            page.from(),
                            page.to(),
                            found.next().map(UUID::fromString));
        }
    }

    private static List<String> expected(String condition) {
        return database.column(
                "SELECT DISTINCT mint_id FROM audit.event WHERE %s ORDER BY mint_id DESC"
                        .formatted(condition));
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 50, 1_000})
    void pages_have_every_mint_once_and_the_newest_first(int most) {
        assertEquals(
                expected("tenant = 'acme'"), all(ConsoleWorld.LEAD, wanted("", "", "", ""), most));
        assertEquals(
                expected("tenant = 'acme' AND key = 'deploy'"),
                all(ConsoleWorld.LEAD, wanted("", "", "deploy", ""), most));
        assertEquals(
                expected("kind = 'failed'"),
                all(ConsoleWorld.AUDITOR, wanted("", "", "", "failed"), most));
    }

    @ParameterizedTest
    @ValueSource(strings = {"issued", "failed", "withheld", "denied"})
    void each_outcome_is_found(String outcome) {
        String condition = "tenant = 'acme' AND kind = '%s'".formatted(outcome);

        assertEquals(expected(condition), all(ConsoleWorld.LEAD, wanted("", "", "", outcome), 40));
        assertEquals(
                expected(condition),
                all(ConsoleWorld.AUDITOR, wanted("", "acme", "", outcome), 40));
    }

    @Test
    void mints_without_outcome_are_found() {
        assertEquals(
                expected("tenant = 'acme' AND mint_id IN (SELECT mint_id FROM audit.open_mint)"),
                all(ConsoleWorld.LEAD, wanted("", "", "", "unresolved"), 40));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "credential_id",
                "request_id",
                "encode(token_hash, 'hex')",
                "upper(encode(token_hash, 'hex'))"
            })
    void a_mint_is_found_by_each_of_its_ids(String id) {
        String mint =
                database.value(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND key = 'deploy'"
                                + " AND tenant = 'acme' ORDER BY mint_id LIMIT 1");
        String value =
                database.value(
                        "SELECT %s FROM audit.event WHERE step = 2 AND mint_id = '%s'"
                                .formatted(id, mint));

        assertEquals(List.of(mint), all(ConsoleWorld.AUDITOR, wanted(value, "", "", ""), 40));
        assertEquals(List.of(mint), all(ConsoleWorld.LEAD, wanted(value, "", "", ""), 40));
    }

    @Test
    void a_search_that_stops_says_down_to_when_it_looked_and_goes_on_from_there() {
        Found first = find(ConsoleWorld.AUDITOR, wanted("", "", "", "withheld"), 40);

        assertTrue(first.stoppedAt().isPresent());
        assertTrue(first.next().isPresent());
        assertEquals(
                expected("kind = 'withheld'"),
                all(ConsoleWorld.AUDITOR, wanted("", "", "", "withheld"), 40));
    }

    @Test
    void others_rows_do_not_stop_a_leads_search() {
        Found found = find(ConsoleWorld.LEAD, wanted("", "", "", "withheld"), 40);

        assertFalse(found.stoppedAt().isPresent());
        assertEquals(
                expected("kind = 'withheld' AND tenant = 'acme'").size(), found.lines().size());
    }

    @Test
    void a_search_does_not_stop_at_rows_of_another_tenant() {
        Found found = find(ConsoleWorld.LEAD, wanted("flood", "", "", ""), 40);

        assertEquals(List.of(), found.lines());
        assertEquals(Optional.empty(), found.stoppedAt());
        assertEquals(Optional.empty(), found.next());
    }

    @Test
    void a_tenants_rarely_used_key_is_found_beside_a_busy_one() {
        Found found = find(ConsoleWorld.AUDITOR, wanted("", "globex", "rare", ""), 40);

        assertEquals(expected("key = 'rare'"), found.lines().stream().map(MintLine::id).toList());
        assertEquals(Optional.empty(), found.stoppedAt());
    }

    @Test
    void a_stretch_of_time_holds_its_first_and_its_last_moment() {
        Instant from = Instant.now().minusSeconds(10 * 3_600);
        Instant to = from.plusSeconds(3_600);
        Wanted hours =
                new Wanted(
                        Optional.empty(),
                        Optional.of("acme"),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(from),
                        Optional.of(to),
                        Optional.empty());

        List<String> found = all(ConsoleWorld.AUDITOR, hours, 10);

        assertEquals(
                expected(
                        "tenant = 'acme' AND mint_id >= audit.first_mint_id('%s') AND mint_id < audit.first_mint_id('%s'::timestamptz + interval '1 ms')"
                                .formatted(from, to)),
                found);
        assertFalse(found.isEmpty());
    }
}
