package io.mintmark.broker.wiring;

import io.mintmark.audit.log.LogFigures;
import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.witness.WitnessSender;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.start.Components;
import io.mintmark.broker.metrics.Gauges;

import java.util.Optional;

/** Sends checkpoints to witnesses, where the settings name some. */
final class Witnesses {
    private final Optional<WitnessSender> sender;

    Witnesses(Prepared prepared, Stores stores, Components components) {
        this.sender =
                prepared.witnesses()
                        .map(policy ->
                                components.idle(
                                        new WitnessSender(
                                                policy,
                                                new GuardedHttp(prepared.destinations()),
                                                new PostgresWitnesses(stores.database()),
                                                stores.history(),
                                                prepared.clock())));
    }

    void start(Components components) {
        sender.ifPresent(it -> components.start(it, WitnessSender::start));
    }

    /** Prints a checkpoint that this replica has sealed, and has it cosigned. */
    void print(String checkpoint) {
        System.out.println(checkpoint);
        sender.ifPresent(WitnessSender::sealed);
    }

    void show(Gauges gauges, LogFigures figures) {
        sender.ifPresent(_ -> gauges.showUnwitnessed(figures, System::nanoTime));
    }
}
