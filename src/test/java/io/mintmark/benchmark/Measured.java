package io.mintmark.benchmark;

import java.time.Duration;

/**
 * One line of the table.
 *
 * @param issued credentials that the log says were handed out meanwhile
 */
record Measured(
        String what, String program, Load.Result load, Reading used, long issued, long mebibytes) {
    static final String HEADER =
            "| what | program | a second | p50 ms | p99 ms | p99.9 ms | CPU ms for 1,000 | a CPU-second | KiB each | resident MiB | answers | issued rows |\n"
                    + "|---|---|---|---|---|---|---|---|---|---|---|---|";

    /** What a process had used at a moment, or between two. */
    record Reading(Duration processor, long allocated) {
        static Reading of(BrokerJar broker) {
            return new Reading(broker.processorTime(), broker.allocated());
        }

        Reading until(Reading later) {
            return new Reading(later.processor.minus(processor), later.allocated - allocated);
        }
    }

    double perProcessorSecond() {
        return load.answers() / (used.processor.toNanos() / 1e9);
    }

    @Override
    public String toString() {
        return "| %s | %s | %,.0f | %.2f | %.2f | %.2f | %.0f | %,.0f | %.1f | %d | %s | %,d |"
                .formatted(
                        what,
                        program,
                        load.perSecond(),
                        load.within(500),
                        load.within(990),
                        load.within(999),
                        used.processor.toNanos() / 1e3 / load.answers(),
                        perProcessorSecond(),
                        used.allocated / 1024.0 / load.answers(),
                        mebibytes,
                        load.statuses(),
                        issued);
    }
}
