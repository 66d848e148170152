package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Mints whose provider wasn't called, and whose outcome is in a chain before their request's. */
@Tag("heavy")
class EarlyOutcomesTest {
    /** More than a verifier once remembered of any mints whose provider wasn't called. */
    private static final int MANY = 10_100;

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections =
            database.closing(new Database(database.login(TestDatabase.Who.APP)));
    private final PostgresEventStore one = new PostgresEventStore(connections, "one");
    private final PostgresEventStore two = new PostgresEventStore(connections, "two");
    private final MintIds ids = new MintIds(InstantSource.system(), new Random());

    /** One of the two chains comes first, so one of the two outcomes comes before its request. */
    @Test
    void they_are_not_accused_after_many_others() throws Exception {
        Event granted = new GrantedMints(database).of(AuditRows.mint("granted", "{}")).getFirst();
        Event first = AuditRows.mint("nobody granted this", "{}").getFirst();
        Event second = AuditRows.mint("nor this", "{}").getFirst();
        for (PostgresEventStore store : List.of(one, two)) {
            for (int i = 0; i < MANY; i += 100) {
                List<Event> rows = new ArrayList<>();
                for (int j = 0; j < 100; j++) {
                    MintId id = ids.next();
                    rows.add(row(granted, id, Kind.REQUESTED));
                    rows.add(row(granted, id, Kind.FAILED));
                }
                store.append(rows);
            }
        }
        one.append(List.of(first));
        two.append(List.of(row(first, first.mintId(), Kind.FAILED), second));
        one.append(List.of(row(second, second.mintId(), Kind.FAILED)));
        Seals.seal(database);

        assertEquals(Map.of(), Seals.found(database, List.of(Seals.KEY)).ungranted);
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
    }

    private static Event row(Event of, MintId id, Kind kind) {
        boolean failed = kind == Kind.FAILED;
        return new Event(
                id,
                kind,
                of.occurredAt(),
                of.caller(),
                of.subject(),
                of.key(),
                of.grant(),
                failed ? Optional.of("decided_again") : Optional.empty(),
                failed ? Optional.of("overtaken") : Optional.empty(),
                failed ? Optional.empty() : of.credential(),
                Optional.empty());
    }
}
