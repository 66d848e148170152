package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.LiveHeap;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.broker.token.TestProviders;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

class KnownIssuersTest {
    private static final Duration STALENESS = Duration.ofSeconds(10);
    private static final String ISSUER = "https://ci.example";
    private static final String FORMER = "https://a.broker.example";

    private final Table table = new Table();
    private final AtomicLong nanos = new AtomicLong();
    private final KnownIssuers issuers =
            new KnownIssuers(table, new OwnIssuer("https://broker.example"), STALENESS, nanos::get);

    /** What the database has, with a count of each sort of question. */
    private static final class Table implements IdentityProviderStore {
        private final Map<String, IdentityProvider> rows = new TreeMap<>();
        private long changes;
        private int questions;
        private int rowReads;
        private boolean gone;

        void put(String name, String issuer, String... audiences) {
            rows.put(name, TestProviders.of(name, "acme", issuer, audiences));
            changes++;
        }

        void remove(String name) {
            rows.remove(name);
            changes++;
        }

        @Override
        public Entries entries() {
            if (gone) {
                throw new Unavailable("gone for the test", Duration.ofSeconds(1));
            }
            questions++;
            return new Entries(
                    Long.toString(changes),
                    rows.values().stream()
                            .map(row ->
                                    IssuerIndex.Entry.of(
                                                    new IssuerIndex.Version(
                                                            row.name(), row.hashCode()),
                                                    row.issuer(),
                                                    row.audiences(),
                                                    row.listed())
                                            .ofTenant(
                                                    Optional.of(
                                                            new IssuerIndex.SignedAs(
                                                                    row.tenant(), FORMER))))
                            .toList());
        }

        @Override
        public Optional<IdentityProvider> provider(IdpName name) {
            rowReads++;
            return Optional.ofNullable(rows.get(name.value()));
        }
    }

    /** Random issuers and audiences cost neither a question to the database nor memory. */
    @Test
    void what_strangers_make_up_is_not_asked_for_and_not_kept() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertEquals(1, issuers.trusting(ISSUER, Set.of("mintmark")).size());
        Random random = new Random(1);
        long before = LiveHeap.bytes();
        for (int i = 0; i < 10_000; i++) {
            String issuer = random.nextBoolean() ? ISSUER : "https://" + random.nextLong();
            Set<String> audiences = audiences(random, i % 100 == 0 ? 2_390 : 5);
            assertEquals(issuer.equals(ISSUER), issuers.knows(issuer));
            assertEquals(List.of(), issuers.trusting(issuer, audiences));
            assertEquals(issuer.equals(ISSUER) ? 1 : 0, issuers.listed(issuer).size());
        }
        long grown = LiveHeap.bytes() - before;
        assertTrue(grown < 2_000_000, grown + " bytes");
        assertEquals(1, table.questions);
        assertEquals(1, table.rowReads);
    }

    private static Set<String> audiences(Random random, int count) {
        Set<String> audiences = new LinkedHashSet<>();
        for (int i = 0; i < count; i++) {
            audiences.add(Integer.toString(random.nextInt(), 36));
        }
        return audiences;
    }

    @Test
    void a_row_is_read_once_until_it_changes() {
        table.put("acme-ci", ISSUER, "mintmark");
        table.put("globex-ci", ISSUER, "globex");
        for (int i = 0; i < 3; i++) {
            assertEquals(1, issuers.trusting(ISSUER, Set.of("mintmark")).size());
            assertEquals(1, issuers.trusting(ISSUER, Set.of("globex")).size());
        }
        assertEquals(2, table.rowReads);
        table.put("acme-ci", ISSUER, "mintmark", "other");
        issuers.refresh();
        assertEquals(1, issuers.trusting(ISSUER, Set.of("other")).size());
        assertEquals(1, issuers.trusting(ISSUER, Set.of("globex")).size());
        assertEquals(3, table.rowReads);
    }

    @Test
    void a_change_is_seen_when_the_database_is_asked_again() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertTrue(issuers.knows(ISSUER));
        table.remove("acme-ci");
        assertTrue(issuers.knows(ISSUER));
        issuers.refresh();
        assertFalse(issuers.knows(ISSUER));
        int before = table.questions;
        issuers.refresh();
        assertEquals(before + 1, table.questions);
    }

    @Test
    void an_audience_that_a_row_has_lost_leads_nowhere_even_before_that_is_seen() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertTrue(issuers.knows(ISSUER));
        table.put("acme-ci", ISSUER, "other");
        assertEquals(List.of(), issuers.trusting(ISSUER, Set.of("mintmark")));
    }

    @Test
    void where_something_may_have_changed_that_is_asked_before_the_next_answer() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertTrue(issuers.knows(ISSUER));
        issuers.changed();
        assertTrue(issuers.knows(ISSUER));
        assertEquals(2, table.questions);
        table.remove("acme-ci");
        nanos.incrementAndGet();
        issuers.changed();
        nanos.incrementAndGet();
        assertFalse(issuers.knows(ISSUER));
    }

    @Test
    void the_issuer_of_a_moved_tenants_tokens_is_known_without_the_database() {
        TenantName acme = new TenantName("acme");
        table.put("acme-ci", ISSUER, "mintmark");
        table.put("acme-other", ISSUER, "other");
        table.gone = true;
        assertThrows(Unavailable.class, () -> issuers.tokenIssuer(acme));
        table.gone = false;
        assertEquals(Optional.of(FORMER), issuers.tokenIssuer(acme));
        assertEquals(Optional.empty(), issuers.tokenIssuer(new TenantName("globex")));
        table.gone = true;
        nanos.addAndGet(2 * STALENESS.toNanos());
        assertThrows(Unavailable.class, () -> issuers.knows(ISSUER));
        assertEquals(Optional.of(FORMER), issuers.tokenIssuer(acme));

        table.gone = false;
        table.remove("acme-ci");
        table.remove("acme-other");
        nanos.addAndGet(2 * STALENESS.toNanos());
        assertEquals(Optional.empty(), issuers.tokenIssuer(acme));
    }

    @Test
    void what_is_known_is_used_until_it_is_too_old_while_the_database_is_away() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertTrue(issuers.knows(ISSUER));
        table.gone = true;
        nanos.addAndGet(STALENESS.toNanos());
        assertThrows(Unavailable.class, issuers::refresh);
        assertTrue(issuers.knows(ISSUER));
        nanos.incrementAndGet();
        assertThrows(Unavailable.class, () -> issuers.knows(ISSUER));
        assertThrows(Unavailable.class, issuers::checkReadable);
        table.gone = false;
        nanos.incrementAndGet();
        assertTrue(issuers.knows(ISSUER));
    }

    @Test
    void polling_keeps_what_is_known_fresh() {
        table.put("acme-ci", ISSUER, "mintmark");
        assertTrue(issuers.knows(ISSUER));
        for (int i = 0; i < 5; i++) {
            nanos.addAndGet(STALENESS.toNanos());
            issuers.refresh();
            assertTrue(issuers.knows(ISSUER));
        }
        assertEquals(6, table.questions);
    }

    @Test
    void a_provider_for_one_of_the_brokers_own_issuers_is_not_listed() {
        table.put("own", "https://broker.example/tenants/acme", "mintmark");
        table.put("acme-ci", ISSUER, "mintmark");
        assertEquals(List.of(ISSUER), issuers.listedIssuers());
        assertEquals(List.of(), issuers.listed("https://broker.example/tenants/acme"));
    }

    /** However many rows there are, those that are kept have a budget. */
    @Test
    void rows_are_kept_within_their_bytes() {
        KnownIssuers few =
                new KnownIssuers(table, OwnIssuer.NONE, STALENESS, nanos::get, 1_000_000);
        List<String> audiences = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            table.put("idp-" + i, ISSUER, "a" + i, "x".repeat(20_000) + i);
            audiences.add("a" + i);
        }
        for (int round = 0; round < 2; round++) {
            audiences.forEach(audience -> few.trusting(ISSUER, Set.of(audience)));
        }
        assertTrue(table.rowReads > 150, table.rowReads + " reads");
    }
}
