package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.catalogue.PostgresIdentityProviders;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.OwnIssuer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What replicas have cached of identity providers is what the database says, as soon as they have
 * looked once more, whatever they cached at whatever moment.
 */
class CachedIdentityProvidersTest {
    private static final int PROVIDERS = 4;
    private static final int EDITS = 250;

    @AutoClose private TestDatabase database;
    private KnownIssuers here;
    private KnownIssuers there;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('globex')");
        for (int i = 0; i < PROVIDERS; i++) {
            database.admin(
                    """
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    VALUES ('idp%1$d', '%2$s', 'https://issuer%3$d.example', '{audience%1$d}')
                    """
                            .formatted(i, i % 2 == 0 ? "acme" : "globex", i / 2));
        }
        here = replica();
        there = replica();
    }

    private KnownIssuers replica() {
        Database connections = database.closing(new Database(database.login(Who.APP)));
        return new KnownIssuers(
                new PostgresIdentityProviders(connections, System::nanoTime),
                OwnIssuer.NONE,
                Duration.ofMinutes(10),
                System::nanoTime);
    }

    @Test
    void a_tenant_that_is_enabled_again_is_accepted_also_where_it_was_asked_for_meanwhile() {
        assertEquals(List.of("idp0"), found(here, 0)); // the index, and the row
        assertEquals(List.of("idp0"), found(there, 0));
        KnownIssuers cold = replica();
        assertTrue(cold.knows("https://issuer0.example")); // the index alone
        database.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        assertEquals(List.of(), found(cold, 0));
        database.admin("UPDATE broker.tenant SET enabled = true WHERE name = 'acme'");
        cold.refresh();
        assertEquals(List.of("idp0"), found(cold, 0));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 20_261_128})
    void after_any_edits_both_replicas_agree_with_the_database(long seed) {
        Random random = new Random(seed);
        for (int edit = 0; edit < EDITS; edit++) {
            database.admin(edit(random));
            KnownIssuers looking = random.nextBoolean() ? here : there;
            var _ = found(looking, random.nextInt(PROVIDERS)); // before it has looked again
            if (random.nextInt(3) == 0) {
                looking.refresh();
            }
            if (random.nextInt(10) == 0) {
                assertAgree("seed %d, after edit %d".formatted(seed, edit));
            }
        }
        assertAgree("seed %d, at the end".formatted(seed));
    }

    private static String edit(Random random) {
        int provider = random.nextInt(PROVIDERS);
        return switch (random.nextInt(4)) {
            case 0 ->
                    "UPDATE broker.tenant SET enabled = NOT enabled WHERE name = '%s'"
                            .formatted(random.nextBoolean() ? "acme" : "globex");
            case 1 ->
                    "UPDATE broker.identity_provider SET enabled = NOT enabled WHERE name = 'idp%d'"
                            .formatted(provider);
            case 2 ->
                    "UPDATE broker.identity_provider SET audiences = '{audience%1$d,other%2$d-%1$d}' WHERE name = 'idp%1$d'"
                            .formatted(provider, random.nextInt(3));
            default ->
                    "UPDATE broker.identity_provider SET clock_skew = %d WHERE name = 'idp%d'"
                            .formatted(random.nextInt(3), provider);
        };
    }

    private void assertAgree(String when) {
        for (KnownIssuers replica : List.of(here, there)) {
            replica.refresh();
            for (int i = 0; i < PROVIDERS; i++) {
                assertEquals(stored(i), described(replica, i), when);
            }
        }
    }

    private List<String> stored(int number) {
        return database.column(
                """
                SELECT concat_ws(' ', p.name, extract(epoch FROM make_interval(secs => p.clock_skew))::int, cardinality(p.audiences))
                  FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
                 WHERE p.enabled AND p.name = 'idp%d'
                """
                        .formatted(number));
    }

    private static List<String> described(KnownIssuers replica, int number) {
        return trusting(replica, number).stream()
                .map(it ->
                        "%s %d %d"
                                .formatted(
                                        it.name(),
                                        it.clockSkew().toSeconds(),
                                        it.audiences().size()))
                .toList();
    }

    private static List<String> found(KnownIssuers replica, int number) {
        return trusting(replica, number).stream().map(it -> it.name().value()).toList();
    }

    private static List<IdentityProvider> trusting(KnownIssuers replica, int number) {
        return replica.trusting(
                "https://issuer%d.example".formatted(number / 2), Set.of("audience" + number));
    }

    @Test
    void nothing_is_read_again_where_nothing_changed() {
        assertEquals(List.of("idp1"), found(here, 1));
        IdentityProvider before = trusting(here, 1).getFirst();
        IntStream.range(0, 5).forEach(_ -> here.refresh());
        assertSame(before, trusting(here, 1).getFirst());
    }
}
