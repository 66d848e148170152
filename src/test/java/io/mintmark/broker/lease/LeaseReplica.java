package io.mintmark.broker.lease;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.RevocationPolicy;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.AccessProviders;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/** As much of a replica as writes the audit log and ends mints. */
final class LeaseReplica implements AutoCloseable {
    /** What a mint may take; nothing waits for it here. */
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Database database;
    private final AuditLog audit;
    private final LeaseRevocations endings;
    private final List<String> results = new CopyOnWriteArrayList<>();

    LeaseReplica(TestDatabase database, String name, FarSide provider, InstantSource clock) {
        AccessProviders providers = new AccessProviders(List.of(provider), InstantSource.system());
        this.database = new Database(database.login(Who.APP));
        this.audit =
                new AuditLog(
                                new PostgresEventStore(
                                        this.database,
                                        name,
                                        new SeenHistory(this.database, Optional.empty()),
                                        new RevocationPolicy(
                                                providers.revokers().keySet(), TIMEOUT)),
                                Eventually.PATIENCE)
                        .start();
        LeaseStore store = new PostgresLeases(this.database, name);
        this.endings =
                new LeaseRevocations(
                        store,
                        new ProviderLeases(
                                store,
                                providers,
                                audit,
                                clock,
                                new Random(1),
                                TIMEOUT,
                                (type, result) -> results.add(type + " " + result)),
                        Duration.ofMillis(100));
    }

    /** Writes rows as a request does. */
    void record(Event... events) {
        var _ = audit.record(List.of(events));
    }

    /** Begins to end mints. */
    LeaseReplica start() {
        var _ = endings.start();
        return this;
    }

    /** What it told its metrics. */
    List<String> results() {
        return List.copyOf(results);
    }

    @Override
    public void close() {
        endings.close();
        audit.close();
        database.close();
    }
}
