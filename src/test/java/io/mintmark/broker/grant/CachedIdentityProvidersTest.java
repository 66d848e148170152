package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.PostgresIdentityProviders;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * What replicas have cached of identity providers is what the database says, as soon as they have
 * looked once more, whatever they cached at whatever moment.
 */
class CachedIdentityProvidersTest {
    private static final int PROVIDERS = 4;
    private static final int EDITS = 250;

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    /** By how much the clock of the stores is ahead, in nanoseconds. */
    private final AtomicLong later = new AtomicLong();

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
        return new KnownIssuers(store(), OwnIssuer.NONE, Duration.ofMinutes(10), System::nanoTime);
    }

    private PostgresIdentityProviders store() {
        Database connections = database.closing(new Database(database.login(Who.APP)));
        return new PostgresIdentityProviders(connections, () -> System.nanoTime() + later.get());
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
        return switch (random.nextInt(6)) {
            case 0 ->
                    "UPDATE broker.tenant SET enabled = NOT enabled WHERE name = '%s'"
                            .formatted(random.nextBoolean() ? "acme" : "globex");
            case 1 ->
                    "UPDATE broker.identity_provider SET enabled = NOT enabled WHERE name = 'idp%d'"
                            .formatted(provider);
            case 2 ->
                    "DELETE FROM broker.identity_provider WHERE name = 'idp%d'".formatted(provider);
            case 3 ->
                    """
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    SELECT 'idp%1$d', '%2$s', 'https://issuer%3$d.example', '{audience%1$d}'
                     WHERE NOT EXISTS (SELECT FROM broker.identity_provider WHERE name = 'idp%1$d')
                    """
                            .formatted(
                                    provider, provider % 2 == 0 ? "acme" : "globex", provider / 2);
            case 4 ->
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
    void a_database_in_the_place_of_another_is_read_though_its_changes_are_old() {
        TestDatabase older = database.closing(database.copyUnderneath());
        database.admin("UPDATE broker.identity_provider SET enabled = false WHERE name = 'idp0'");
        Eventually.holds(() -> refreshes(here) && found(here, 0).isEmpty());
        database.replaceBy(older);
        Eventually.holds(() -> refreshes(here) && found(here, 0).equals(List.of("idp0")));
    }

    /** The first answer after a copy or a replacement may be that there is no connection. */
    private static boolean refreshes(KnownIssuers replica) {
        try {
            replica.refresh();
            return true;
        } catch (Unavailable e) {
            return false;
        }
    }

    @Test
    void nothing_is_read_again_where_nothing_changed() {
        assertEquals(List.of("idp1"), found(here, 1));
        IdentityProvider before = trusting(here, 1).getFirst();
        IntStream.range(0, 5).forEach(_ -> here.refresh());
        assertSame(before, trusting(here, 1).getFirst());
    }

    @Test
    void a_transaction_that_was_open_at_the_last_look_is_seen_when_it_has_committed()
            throws SQLException {
        try (Connection open = database.connect(Who.ADMIN)) {
            open.setAutoCommit(false);
            execute(
                    open,
                    "UPDATE broker.identity_provider SET enabled = false WHERE name = 'idp0'");
            database.admin(
                    "UPDATE broker.identity_provider SET enabled = false WHERE name = 'idp3'");
            here.refresh();
            assertEquals(List.of("idp0"), found(here, 0));
            assertEquals(List.of(), found(here, 3));
            open.commit();
            here.refresh();
            assertEquals(List.of(), found(here, 0));
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void after_too_many_changes_to_be_listed_all_are_read() {
        assertEquals(List.of("idp0"), found(here, 0));
        database.admin(
                """
                DO $$ BEGIN
                    FOR n IN 1..1000 LOOP
                        UPDATE broker.identity_provider SET clock_skew = n % 2 WHERE name = 'idp1';
                    END LOOP;
                    UPDATE broker.identity_provider SET enabled = false WHERE name = 'idp0';
                END $$
                """);
        here.refresh();
        assertEquals(List.of(), found(here, 0));
    }

    @Test
    void a_change_past_the_history_is_seen_within_ten_seconds() {
        assertEquals(List.of("idp0"), found(here, 0));
        pastTheHistory("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        later.addAndGet(TEN_SECONDS.toNanos());
        Eventually.holds(() -> refreshes(here) && found(here, 0).isEmpty());
        pastTheHistory("UPDATE broker.tenant SET enabled = true WHERE name = 'acme'");
        later.addAndGet(TEN_SECONDS.toNanos());
        Eventually.holds(() -> refreshes(here) && found(here, 0).equals(List.of("idp0")));
    }

    @Test
    void a_change_past_the_history_and_past_the_counters_is_seen_within_five_minutes() {
        assertEquals(List.of("idp0"), found(here, 0));
        pastTheHistory(
                "SET track_counts = off; UPDATE broker.identity_provider SET enabled = false WHERE name = 'idp0'");
        later.addAndGet(TEN_SECONDS.toNanos());
        here.refresh();
        assertEquals(List.of("idp0"), found(here, 0));
        later.addAndGet(FIVE_MINUTES.toNanos());
        here.refresh();
        assertEquals(List.of(), found(here, 0));
    }

    private void pastTheHistory(String sql) {
        database.runAsSuperuser(
                """
                ALTER TABLE broker.tenant DISABLE TRIGGER USER;
                ALTER TABLE broker.identity_provider DISABLE TRIGGER USER;
                """
                        + sql
                        + """
                        ;
                        ALTER TABLE broker.tenant ENABLE ALWAYS TRIGGER record_change;
                        ALTER TABLE broker.identity_provider ENABLE ALWAYS TRIGGER record_change;
                        """);
    }

    @Test
    void rows_that_can_not_be_used_do_not_make_a_replica_read_all_again() {
        pastTheHistory(
                """
                ALTER TABLE broker.identity_provider DROP CONSTRAINT audiences_are_a_list_without_blanks_and_repeats;
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                SELECT 'large', 'acme', 'https://large.example', array_agg(md5(n::text) || md5(random()::text))
                  FROM generate_series(1, 20000) AS n
                """);
        PostgresIdentityProviders providers = store();
        List<IssuerIndex.Entry> before = providers.entries().byName();
        assertEquals(PROVIDERS, before.size());
        later.addAndGet(FIVE_MINUTES.toNanos());
        assertSame(before, providers.entries().byName());
        database.admin("UPDATE broker.identity_provider SET clock_skew = 2 WHERE name = 'idp1'");
        List<IssuerIndex.Entry> after = providers.entries().byName();
        assertSame(before.getFirst(), after.getFirst(), "only what changed is read");
        assertNotEquals(before.get(1), after.get(1));
        later.addAndGet(FIVE_MINUTES.toNanos());
        assertSame(after, providers.entries().byName());
    }
}
