package io.mintmark.benchmark;

import io.mintmark.benchmark.Bench.Token;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Mints, lists, refusals and edits for a long time, with two restarts of the database on the way.
 * What the process holds is printed thirty times, after a collection each time.
 */
final class Soak {
    private static final int SAMPLES = 30;
    private static final Duration AWAY = Duration.ofSeconds(5);
    private final Bench bench;
    private final Duration time;

    Soak(Bench bench, Duration time) {
        this.bench = bench;
        this.time = time;
    }

    void run() throws IOException, InterruptedException, SQLException {
        CompletableFuture<Load.Result> mints = loaded(16, bench.mint(Token.RS256, "aws1", "jwt1"));
        CompletableFuture<Load.Result> lists = loaded(2, bench.list());
        CompletableFuture<Load.Result> refusals = loaded(2, bench.mint(Token.STRANGER, "aws1"));
        System.out.println("| after | live heap MiB | threads | open files | resident MiB |");
        System.out.println("|---|---|---|---|---|");
        for (int sample = 1; sample <= SAMPLES; sample++) {
            TimeUnit.MILLISECONDS.sleep(time.toMillis() / SAMPLES);
            if (sample == SAMPLES / 3 || sample == 2 * SAMPLES / 3) {
                bench.database().restart(AWAY);
            }
            bench.database().run(bench.name(), edit(sample));
            print(sample);
        }
        System.out.printf(
                "%nmints %s, lists %s, refusals %s%n%n",
                mints.join().statuses(), lists.join().statuses(), refusals.join().statuses());
    }

    private CompletableFuture<Load.Result> loaded(int clients, byte[] request) {
        return CompletableFuture.supplyAsync(
                () -> bench.load().run(clients, time, _ -> request), Thread::startVirtualThread);
    }

    private static String edit(int sample) {
        return """
        UPDATE broker.subject_grant SET reason = 'edited at %d'
         WHERE tenant = 'acme' AND idp = 'rsa' AND subject = 'ci:main' AND key = 'aws2'
        """
                .formatted(sample);
    }

    private void print(int sample) throws IOException {
        System.out.printf(
                "| %d s | %.1f | %d | %d | %d |%n",
                time.toSeconds() * sample / SAMPLES,
                bench.broker().liveMebibytes(),
                bench.broker().threads(),
                bench.broker().openFiles(),
                bench.broker().residentMebibytes());
    }
}
