package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A restore is noticed by one of the rows that it lost, and acknowledged once for all of them. */
class OneRestoreTest {
    private static final TenantName ACME = new TenantName("acme");
    private static final String REPORTED = "SELECT kind FROM runtime.lost_row ORDER BY kind";

    @AutoClose private TestDatabase database;
    private SeenHistory history;
    private PostgresEventStore writer;

    @BeforeEach
    void write() {
        database = TestDatabase.migrated();
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
        Database connections = database.closing(new Database(database.login(Who.APP)));
        history =
                new SeenHistory(
                        connections,
                        Optional.of(
                                new LossStop(connections, new TrustedKeys(List.of(Seals.KEY)))));
        writer = new PostgresEventStore(connections, "test", history, RevocationPolicy.NOTHING);
        append();
    }

    private void append() {
        var _ = writer.append(AuditRows.mint("ci:main", "{}"), Set.of(ACME));
    }

    private void loseTheChange() {
        database.alterLog("DELETE FROM log.config_change WHERE tenant = 'acme'");
        assertThrows(UnacknowledgedLoss.class, () -> history.sawOthers(Set.of(ACME)));
    }

    @Test
    void a_replica_that_misses_a_change_also_reports_the_row_that_it_wrote_last() {
        database.removeEvents("true");
        loseTheChange();
        database.assertRows(REPORTED, "change", "event");
    }

    @Test
    void a_row_that_is_still_there_is_not_reported() {
        loseTheChange();
        database.assertRows(REPORTED, "change");
    }

    @Test
    void a_checkpoint_that_was_sealed_just_before_a_restore_is_missed_too() {
        Optional<SignedCheckpoint> first = sealed();
        history.saw(first);
        SignedCheckpoint second = sealed().orElseThrow();
        history.remember(second);
        lose(second);
        assertThrows(UnacknowledgedLoss.class, () -> history.saw(first));
        database.assertRows(REPORTED, "checkpoint");
    }

    @Test
    void a_checkpoint_that_was_read_just_before_a_restore_is_missed_too() {
        Optional<SignedCheckpoint> first = sealed();
        history.saw(first);
        Optional<SignedCheckpoint> second = sealed();
        database.shutTheServiceOut();
        assertThrows(QueryFailed.class, () -> history.saw(second));
        database.letTheServiceIn();
        lose(second.orElseThrow());
        Eventually.holds(() -> isNoticedAt(first));
        database.assertRows(REPORTED, "checkpoint");
    }

    private void lose(SignedCheckpoint checkpoint) {
        database.alterLog("DELETE FROM log.checkpoint WHERE number = " + checkpoint.number());
    }

    /** The pool's first answers after that may be that it has no connection yet. */
    private boolean isNoticedAt(Optional<SignedCheckpoint> newest) {
        try {
            history.saw(newest);
            return false;
        } catch (QueryFailed e) {
            return false;
        } catch (UnacknowledgedLoss e) {
            return true;
        }
    }

    @Test
    void an_answer_that_was_overtaken_makes_no_loss() {
        Optional<SignedCheckpoint> first = sealed();
        history.saw(sealed());
        history.saw(first);
        database.assertRows(REPORTED);
    }

    private Optional<SignedCheckpoint> sealed() {
        return Optional.of(Seals.seal(database));
    }
}
