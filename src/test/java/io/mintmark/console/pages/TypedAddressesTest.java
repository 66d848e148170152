package io.mintmark.console.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A tenant's lead who types addresses: with ids and names of another tenant, her own ones, and
 * texts that mean something to somebody who takes them for more than text. {@code -Daddresses=5000}
 * tries more of them than every build does.
 */
class TypedAddressesTest {
    private static final int TRIED = Integer.getInteger("addresses", 400);
    private static final long SEED = Long.getLong("addresses.seed", 17);
    private static final Set<Integer> STATUSES = Set.of(200, 303, 400, 403, 404);

    /**
     * A page, with what it takes.
     *
     * @param path a {@code *} stands for a part of it
     */
    private record Place(String path, List<String> parameters) {}

    private static final List<Place> PAGES =
            List.of(
                    new Place("/", List.of("tenant")),
                    new Place(
                            "/mints",
                            List.of(
                                    "q", "tenant", "key", "subject", "outcome", "from", "to",
                                    "before")),
                    new Place(
                            "/mints/download",
                            List.of("q", "tenant", "key", "subject", "outcome", "before")),
                    new Place("/mints/*", List.of("tenant")),
                    new Place("/subjects", List.of("q", "tenant")),
                    new Place("/keys/*/*", List.of("at")),
                    new Place("/tenants", List.of("q", "after")),
                    new Place("/reviews", List.of("tenant", "show", "after")),
                    new Place("/reviews/download", List.of("tenant", "show", "after")),
                    new Place("/tenants/*", List.of("after")),
                    new Place("/tenants/*/history", List.of("table", "row", "before")),
                    new Place("/explain", List.of("idp", "claims", "mint")),
                    new Place("/history", List.of("table", "row", "before")),
                    new Place("/proof", List.of("before")),
                    new Place("/proof/checkpoints", List.of("before")),
                    new Place("/proof/receipt", List.of("mint")));

    private static final List<String> HOSTILE =
            List.of(
                    "' OR true --",
                    "'; SELECT pg_sleep(5); --",
                    "%",
                    "**",
                    "\\",
                    "$1",
                    "\u0000",
                    "\uD83D\uDE00\u202E",
                    "<script>alert(1)</script>",
                    "../../tenants/globex",
                    "null",
                    "-1",
                    "0",
                    "9223372036854775807",
                    "99999999999999999999",
                    "ffffffff-ffff-ffff-ffff-ffffffffffff",
                    "0000-01-01",
                    "9999-12-31T23:59:59Z",
                    "2026-02-30",
                    "subject_grant",
                    "console_access",
                    "blocked_subject",
                    "unresolved",
                    "withheld",
                    "{\"sub\": \"project_path:globex/tracking:ref_type:branch:ref:main\"}",
                    "{\"sub\": \"x\", \"iss\": \"https://gitlab.globex.example\", \"aud\":"
                            + " \"mintmark-globex\"}",
                    "{\"role\": \"auditor\"}",
                    "{".repeat(900),
                    "a".repeat(1_500));

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;
    private static List<String> foreign;
    private static List<String> values;

    private final Random random = new Random(SEED);

    /** An address, and what was typed into it. */
    private record Typed(String address, List<String> texts) {}

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        foreign = new ArrayList<>(idsOf("globex"));
        foreign.addAll(
                List.of(
                        "project_path:globex/tracking:ref_type:branch:ref:main",
                        "globex-gitlab",
                        "gitlab.globex.example",
                        "mintmark-globex",
                        "Globex Logistics",
                        "GLX-7",
                        "999988887777",
                        "leads of globex"));
        values = new ArrayList<>(foreign);
        values.addAll(idsOf("acme").subList(0, 60));
        values.addAll(
                database.column(
                        "SELECT DISTINCT request_id FROM audit.event WHERE tenant = 'globex' LIMIT"
                                + " 20"));
        for (int i = 0; i < 8; i++) {
            values.addAll(HOSTILE);
            values.addAll(List.of("acme", "globex", "deploy", "1", "4", "acme-github"));
        }
        world = ConsoleWorld.of(database);
    }

    private static List<String> idsOf(String tenant) {
        return database.column(
                """
                SELECT DISTINCT id
                  FROM (SELECT * FROM audit.event WHERE tenant = '%s' ORDER BY mint_id DESC LIMIT 60) AS e
                 CROSS JOIN LATERAL unnest(ARRAY[e.mint_id::text, e.credential_id, encode(e.token_hash, 'hex')]) AS t (id)
                 WHERE id IS NOT NULL ORDER BY id
                """
                        .formatted(tenant));
    }

    @Test
    void a_lead_who_types_addresses_is_shown_nothing_of_another_tenant() {
        List<String> failed = new ArrayList<>();
        for (int n = 0; n < TRIED; n++) {
            Typed typed = typed();
            objection(typed).ifPresent(said -> failed.add(said + ": " + typed.address()));
        }
        assertEquals(List.of(), failed, "seed " + SEED);
    }

    /** Or what is looked for would be found nowhere. */
    @Test
    void who_leads_the_other_tenant_is_shown_it() {
        String page = world.get("other", "/mints").body();

        assertTrue(foreign.stream().anyMatch(page::contains), page);
    }

    private Typed typed() {
        List<String> texts = new ArrayList<>();
        Place page = PAGES.get(random.nextInt(PAGES.size()));
        String path = page.path();
        while (path.contains("*")) {
            path = path.replaceFirst("\\*", encoded(texts));
        }
        String query =
                page.parameters().stream()
                        .filter(_ -> random.nextInt(3) == 0)
                        .map(name -> name + "=" + encoded(texts))
                        .collect(Collectors.joining("&", "?", ""));
        return new Typed(path + (query.equals("?") ? "" : query), texts);
    }

    private String encoded(List<String> texts) {
        String value = values.get(random.nextInt(values.size()));
        String text =
                switch (random.nextInt(8)) {
                    case 0 -> value.toUpperCase(Locale.ROOT);
                    case 1 -> value + "'";
                    case 2 -> " " + value + "\n";
                    default -> value;
                };
        texts.add(text);
        return Links.encoded(text).replace("*", "%2A");
    }

    private static Optional<String> objection(Typed typed) {
        HttpResponse<String> answer = world.get("lead", typed.address());
        if (!STATUSES.contains(answer.statusCode())) {
            return Optional.of("status " + answer.statusCode());
        }
        Optional<String> led =
                answer.headers()
                        .firstValue("Location")
                        .filter(place -> foreign.stream().anyMatch(place::contains));
        return led.or(() ->
                foreign.stream()
                        .filter(secret ->
                                !wasTyped(secret, typed) && answer.body().contains(secret))
                        .findFirst());
    }

    /** What somebody typed is shown again. */
    private static boolean wasTyped(String secret, Typed typed) {
        return typed.texts().stream()
                .anyMatch(text ->
                        text.toLowerCase(Locale.ROOT)
                                .contains(secret.toLowerCase(Locale.ROOT).strip()));
    }
}
