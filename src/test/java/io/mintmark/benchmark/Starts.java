package io.mintmark.benchmark;

import io.mintmark.benchmark.Bench.Token;
import io.mintmark.benchmark.BrokerJar.Start;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How soon a program answers after its start, and what its first mints cost. Nothing asks the
 * program about itself meanwhile: for one that has just begun that is work too.
 */
final class Starts {
    private static final Duration COLD = Duration.ofSeconds(10);

    /** 200 requests. */
    private static final Duration SLOW = Duration.ofSeconds(10);

    private static final Duration PACE = Duration.ofMillis(50);

    private final List<Bench> benches;
    private final int clients;
    private final Map<String, List<Begun>> begun = new LinkedHashMap<>();

    /**
     * @param clients that mint as soon as a program answers
     */
    Starts(List<Bench> benches, int clients) {
        this.benches = benches;
        this.clients = clients;
    }

    private record Begun(
            Start start,
            Load.Result first,
            Load.Result load,
            Duration processor,
            long issued,
            long mebibytes) {
        double perProcessorSecond() {
            return load.answers() / (processor.toNanos() / 1e9);
        }
    }

    /** Starts each program so many times, in turns, and prints the median of what each did. */
    void run(int rounds) throws IOException, InterruptedException, SQLException {
        for (int round = 0; round < rounds; round++) {
            for (Bench bench : benches) {
                bench.restart();
                begun.computeIfAbsent(bench.name(), _ -> new ArrayList<>()).add(begun(bench));
            }
        }
        System.out.println(
                "| start of | first answer ms | CPU ms until then | 200 mints at 20 a second: p50 ms | p99 ms | then at full load: mints a second | a CPU-second | resident MiB | answers | issued rows |\n"
                        + "|---|---|---|---|---|---|---|---|---|---|");
        begun.forEach(Starts::print);
        System.out.println();
    }

    private Begun begun(Bench bench) throws SQLException, IOException {
        byte[] request = bench.mint(Token.RS256, "aws1");
        Load.Result first = bench.load().every(PACE).run(1, SLOW, _ -> request);
        long rows = bench.issued();
        Duration before = bench.broker().processorTime();
        Load.Result load = bench.load().run(clients, COLD, _ -> request);
        return new Begun(
                bench.broker().start(),
                first,
                load,
                bench.broker().processorTime().minus(before),
                bench.issued() - rows,
                bench.broker().residentMebibytes());
    }

    /** The answer's and the mints' medians need not be of the same start. */
    private static void print(String name, List<Begun> all) {
        Begun median = median(all, Comparator.comparingDouble(Begun::perProcessorSecond));
        System.out.printf(
                "| %s | %s | %s | %s | %,.0f | %,.0f | %d | %s | %,d |%n",
                name,
                line(all.stream().map(Begun::start).toList()),
                within(all, 500),
                within(all, 990),
                median.load.perSecond(),
                median.perProcessorSecond(),
                median.mebibytes,
                all.stream().map(begun -> begun.load.statuses()).toList(),
                all.stream().mapToLong(Begun::issued).sum());
    }

    /** Of each start, the best first. */
    private static String within(List<Begun> all, int thousandths) {
        return all.stream()
                .map(begun -> begun.first.within(thousandths))
                .sorted()
                .map("%.0f"::formatted)
                .collect(Collectors.joining(", "));
    }

    /** The median of several starts. */
    private static String line(List<Start> starts) {
        Start median = median(starts, Comparator.comparing(Start::clock));
        return "%d | %d".formatted(median.clock().toMillis(), median.processor().toMillis());
    }

    private static <T> T median(List<T> all, Comparator<T> by) {
        return all.stream().sorted(by).toList().get(all.size() / 2);
    }
}
