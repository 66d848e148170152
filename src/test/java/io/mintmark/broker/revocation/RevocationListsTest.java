package io.mintmark.broker.revocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;

import io.mintmark.Unchecked;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.revocation.RevocationLists.RevocationList;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.RevocationFormat.Written;
import io.mintmark.provider.UnusableSettingsException;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

class RevocationListsTest {
    private static final MintId MINT =
            new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab"));
    private static final ListIssuer HOSTS = new ListIssuer("ssh", "acme", "hosts");

    private final AtomicLong nanos = new AtomicLong();
    private final Store store = new Store();
    private final RevocationLists lists =
            new RevocationLists(
                    store,
                    Map.of(
                            "ssh",
                            RevocationListsTest::written,
                            "x509",
                            (_, _, _, _) -> {
                                throw new UnusableSettingsException("no key");
                            }),
                    Instant::now,
                    nanos::get);

    private static Written written(
            TenantName tenant, JsonNode settings, List<MintId> ended, Instant now) {
        String list = tenant + " " + ended;
        return new Written(
                list.getBytes(StandardCharsets.UTF_8),
                Optional.of(("text of " + list).getBytes(StandardCharsets.UTF_8)));
    }

    private static final class Store implements RevokedCredentials {
        private final NavigableSet<ListIssuer> known =
                new TreeSet<>(Set.of(HOSTS, new ListIssuer("x509", "acme", "tls")));
        private final List<String> asked = new ArrayList<>();
        private List<MintId> ended = List.of();
        private CountDownLatch before = new CountDownLatch(0);

        @Override
        public NavigableSet<ListIssuer> authorities(Set<String> types) {
            asked.add("names");
            return new TreeSet<>(known);
        }

        @Override
        public Optional<Revoked> of(ListIssuer authority) {
            asked.add(authority.provider());
            Unchecked.call(() -> before.await(Eventually.SECONDS, TimeUnit.SECONDS));
            return known.contains(authority)
                    ? Optional.of(new Revoked(NullNode.getInstance(), ended))
                    : Optional.empty();
        }
    }

    private void later(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static String text(Optional<RevocationList> list) {
        return new String(list.orElseThrow().content().bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void what_strangers_make_up_asks_the_database_once_a_minute() {
        for (int i = 0; i < 1000; i++) {
            String name = "made-up-" + i;
            assertEquals(Optional.empty(), lists.ofTenant("ssh", name));
            assertEquals(Optional.empty(), lists.of(new ListIssuer("x509", "acme", name)));
            assertEquals(Optional.empty(), lists.ofTenant("x509", "acm"));
        }

        assertEquals(List.of("names"), store.asked);
    }

    @Test
    void a_list_is_made_once_a_minute_and_says_how_long_it_may_be_used() {
        assertEquals("acme []", text(lists.ofTenant("ssh", "acme")));
        store.ended = List.of(MINT);
        later(Duration.ofSeconds(50));
        Optional<RevocationList> old = lists.ofTenant("ssh", "acme");
        assertEquals("acme []", text(old));
        assertEquals(Duration.ofSeconds(10), old.orElseThrow().usable());
        later(Duration.ofSeconds(11));
        Optional<RevocationList> renewed = lists.of(HOSTS);
        assertEquals("acme [" + MINT + "]", text(renewed));
        assertEquals(RevocationLists.KEPT, renewed.orElseThrow().usable());
        assertSame(
                renewed.orElseThrow().content(),
                lists.ofTenant("ssh", "acme").orElseThrow().content());

        assertEquals(List.of("names", "hosts", "names", "hosts"), store.asked);
    }

    @Test
    void an_access_provider_that_goes_has_no_list_and_a_new_one_has() {
        assertEquals("acme []", text(lists.of(HOSTS)));
        store.known.remove(HOSTS);
        store.known.add(new ListIssuer("ssh", "acme", "other"));
        later(Duration.ofSeconds(61));

        assertEquals(Optional.empty(), lists.of(HOSTS));
        assertEquals("acme []", text(lists.ofTenant("ssh", "acme")));
    }

    @Test
    void a_list_that_cannot_be_made_is_unavailable_and_says_why_to_the_log_alone() {
        ListIssuer tls = new ListIssuer("x509", "acme", "tls");
        Unavailable failure = assertThrows(Unavailable.class, () -> lists.of(tls));

        assertEquals(
                "The revocation list of access provider 'tls' can't be made now; the broker's log"
                        + " has the reason.",
                failure.getMessage());
        assertTrue(String.valueOf(failure.getCause()).contains("no key"));
        for (int i = 0; i < 100; i++) {
            assertThrows(Unavailable.class, () -> lists.of(tls));
        }
        assertEquals(List.of("names", "tls"), store.asked);
    }

    @Test
    void every_form_of_a_list_is_made_once_and_its_tag_is_that_of_its_bytes() {
        RevocationList first = lists.of(HOSTS).orElseThrow();
        RevocationList again = lists.of(HOSTS).orElseThrow();
        store.ended = List.of(MINT);
        later(Duration.ofSeconds(61));
        RevocationList other = lists.of(HOSTS).orElseThrow();

        assertSame(first.text().orElseThrow(), again.text().orElseThrow());
        assertNotEquals(first.content().tag(), first.text().orElseThrow().tag());
        assertNotEquals(first.content().tag(), other.content().tag());
    }

    @Test
    void requests_wait_for_a_list_that_is_being_made_but_not_without_bound() throws Exception {
        CountDownLatch going = new CountDownLatch(1);
        store.before = going;
        assertEquals(Optional.empty(), lists.ofTenant("ssh", "nobody"));
        AtomicInteger refused = new AtomicInteger();
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(
                    Thread.ofVirtual()
                            .start(() -> {
                                try {
                                    assertEquals("acme []", text(lists.of(HOSTS)));
                                } catch (Unavailable e) {
                                    refused.incrementAndGet();
                                }
                            }));
        }
        Eventually.holds(() -> refused.get() == 68);
        going.countDown();
        for (Thread one : waiting) {
            one.join();
        }

        assertEquals(68, refused.get());
        assertEquals(List.of("names", "hosts"), store.asked);
    }
}
