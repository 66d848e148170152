package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.IdentityProviderStore.Entries;
import io.mintmark.broker.grant.IssuerIndex.Entry;
import io.mintmark.broker.grant.IssuerIndex.Version;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.IdentityProviders.Login;
import io.mintmark.broker.token.LiveHeap;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

class IssuerIndexTest {
    private static final String CI = "https://ci.example";

    @Test
    void an_issuer_and_one_of_the_audiences_lead_to_the_provider_that_has_both() {
        IssuerIndex index =
                index(
                        entry("acme", CI, List.of("a", "b"), true),
                        entry("globex", CI, List.of("c"), true),
                        entry("hooli", "https://other.example", List.of("a"), true));
        assertEquals(List.of("acme"), names(index.leadingFrom(CI, Set.of("b", "x"))));
        assertEquals(List.of("acme", "globex"), names(index.leadingFrom(CI, Set.of("c", "a"))));
        assertEquals(List.of(), names(index.leadingFrom(CI, Set.of("x", ""))));
        assertEquals(
                List.of("hooli"), names(index.leadingFrom("https://other.example", Set.of("a"))));
    }

    @Test
    void an_issuer_that_no_provider_has_leads_nowhere() {
        IssuerIndex index = index(entry("acme", CI, List.of("a"), true));
        assertFalse(index.knows(CI + "/"));
        assertEquals(List.of(), index.leadingFrom(CI + "/", Set.of("a")));
        assertEquals(List.of(), index.listed(CI + "/"));
    }

    @Test
    void a_hidden_provider_is_known_and_not_listed() {
        IssuerIndex index =
                index(
                        entry("acme", CI, List.of("a"), false),
                        entry("globex", "https://b.example", List.of("b"), true),
                        entry("hooli", "https://a.example", List.of("c"), true));
        assertTrue(index.knows(CI));
        assertEquals(List.of(), index.listed(CI));
        assertEquals(List.of("https://a.example", "https://b.example"), index.listedIssuers());
        assertEquals(
                List.of("globex", "hooli"),
                index.listed().stream().map(listed -> listed.name().value()).toList());
    }

    @Test
    void a_provider_that_may_not_be_listed_still_leads_somewhere() {
        IssuerIndex index =
                IssuerIndex.of(
                        new Entries("1", List.of(entry("acme", CI, List.of("a"), true))),
                        _ -> false);
        assertEquals(List.of(), index.listedIssuers());
        assertEquals(List.of("acme"), names(index.leadingFrom(CI, Set.of("a"))));
    }

    @Test
    void many_that_fit_are_cut_to_the_first_by_name() {
        List<Entry> many = new ArrayList<>();
        Set<String> audiences = new TreeSet<>();
        for (int i = 100; i < 300; i++) {
            many.add(entry("idp-" + i, CI, List.of("a" + i), true));
            audiences.add("a" + i);
        }
        many.add(entry("idp-x", "https://x.example", List.of("a"), true));
        IssuerIndex index = IssuerIndex.of(new Entries("1", many), _ -> true);
        List<String> first =
                IntStream.range(100, 100 + IdentityProviders.MOST_FOUND)
                        .mapToObj(i -> "idp-" + i)
                        .toList();
        assertEquals(first, names(index.leadingFrom(CI, audiences)));
        assertEquals(first, names(index.listed(CI)));
        assertEquals(List.of(CI, "https://x.example"), index.listedIssuers());
    }

    @Test
    void a_rejection_shows_a_hundred_issuers() {
        List<Entry> many =
                IntStream.range(0, 1_000)
                        .mapToObj(i -> entry("i" + i, "https://" + i, List.of("a"), true))
                        .toList();
        assertEquals(
                IdentityProviders.MOST_SHOWN,
                IssuerIndex.of(new Entries("1", many), _ -> true).listedIssuers().size());
    }

    @Test
    void logins_are_those_of_one_tenant() {
        Entry acme = entry("acme", CI, List.of("a"), false).with(login("acme", "acme"));
        Entry staff = entry("staff", CI, List.of("b"), true).with(login("staff", "acme"));
        Entry globex = entry("globex", CI, List.of("c"), true).with(login("globex", "globex"));
        IssuerIndex one = index(acme, entry("ci", CI, List.of("d"), true), staff);
        assertEquals(List.of("acme", "staff"), providers(one.logins(new TenantName("acme"))));
        assertEquals(List.of("acme", "staff"), providers(one.logins()));
        IssuerIndex two = index(acme, globex, staff);
        assertEquals(List.of("globex"), providers(two.logins(new TenantName("globex"))));
        assertEquals(List.of(), two.logins());
        assertEquals(List.of(), two.logins(new TenantName("hooli")));
        IssuerIndex hidden = IssuerIndex.of(new Entries("1", List.of(acme)), _ -> false);
        assertEquals(List.of(), hidden.logins());
    }

    private static Optional<Login> login(String provider, String tenant) {
        return Optional.of(new Login(new IdpName(provider), new TenantName(tenant), CI, "cli"));
    }

    private static List<String> providers(List<Login> logins) {
        return logins.stream().map(login -> login.provider().value()).toList();
    }

    /** As a map of texts would. */
    @Test
    void random_providers_are_found_by_random_audiences() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Entry> entries = new ArrayList<>();
        List<Set<String>> audiences = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Set<String> own = audiences(random);
            audiences.add(own);
            entries.add(entry("idp-" + (1000 + i), issuer(i), List.copyOf(own), true));
        }
        IssuerIndex index = IssuerIndex.of(new Entries("1", entries), _ -> true);
        for (int i = 0; i < 2_000; i++) {
            int issuer = random.nextInt(50);
            Set<String> asked = audiences(random);
            List<String> expected = new ArrayList<>();
            for (int at = issuer; at < 200; at += 50) {
                if (audiences.get(at).stream().anyMatch(asked::contains)) {
                    expected.add("idp-" + (1000 + at));
                }
            }
            assertEquals(expected, names(index.leadingFrom(issuer(issuer), asked)), "seed " + seed);
        }
    }

    @Test
    void ten_thousand_providers_with_five_audiences_take_a_few_megabytes() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            entries.add(
                    entry(
                            "provider-of-tenant-%05d".formatted(i),
                            "https://issuer-%05d.example.com/realms/ci".formatted(i),
                            IntStream.range(0, 5).mapToObj(a -> number + "/" + a).toList(),
                            true));
        }
        long before = LiveHeap.bytes();
        IssuerIndex index = IssuerIndex.of(new Entries("1", entries), _ -> true);
        long taken = LiveHeap.bytes() - before;
        assertTrue(taken < 4_000_000, taken + " bytes");
        assertEquals(10_000, index.listed().size());
        assertEquals(10_000, entries.size());
    }

    private static Set<String> audiences(Random random) {
        Set<String> audiences = new TreeSet<>();
        for (int i = random.nextInt(1, 6); i > 0; i--) {
            audiences.add("audience-" + random.nextInt(40));
        }
        return audiences;
    }

    private static String issuer(int number) {
        return "https://issuer-" + number % 50;
    }

    private static IssuerIndex index(Entry... entries) {
        return IssuerIndex.of(new Entries("1", List.of(entries)), _ -> true);
    }

    private static Entry entry(String name, String issuer, List<String> audiences, boolean listed) {
        return Entry.of(new Version(new IdpName(name), 1), issuer, audiences, listed);
    }

    private static List<String> names(List<Version> versions) {
        return versions.stream().map(version -> version.name().value()).toList();
    }
}
