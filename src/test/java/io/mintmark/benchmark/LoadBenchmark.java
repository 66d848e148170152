package io.mintmark.benchmark;

import io.mintmark.audit.log.Scale;
import io.mintmark.audit.log.SealedHours;
import io.mintmark.benchmark.Bench.Token;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Loads the program as operators start it, and prints the tables of {@code
 * docs/internals/performance.md}. The command and its properties are described there.
 */
public final class LoadBenchmark {
    private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("load.seconds", 10));
    private static final Duration WARM = Duration.ofSeconds(Integer.getInteger("load.warm", 60));
    private static final int ROUNDS = Integer.getInteger("load.rounds", 1);
    private static final int CLIENTS = Integer.getInteger("load.clients", 32);
    private static final int TENANTS = Integer.getInteger("load.tenants", 10_000);
    private static final Pattern LINES = Pattern.compile(System.getProperty("load.lines", ""));
    private static final String[] NONE = {};
    private static final Duration FIRST = Duration.ofSeconds(10);
    private static final double SLOWER = 0.9;
    private static final Duration PROVIDER = Duration.ofMillis(50);

    private final List<Bench> benches;
    private final Map<String, List<Measured>> measured = new LinkedHashMap<>();

    private boolean warm;

    private LoadBenchmark(List<Bench> benches) {
        this.benches = benches;
    }

    /** Prints what the properties ask for. */
    public static void main(String[] args) {
        try {
            run();
            System.exit(0);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void run() throws Throwable {
        if (System.getProperty("load.what", "all").equals("scale")) {
            scale();
            return;
        }
        if (System.getProperty("load.what", "all").equals("sealing")) {
            sealing();
            return;
        }
        try (BenchDatabase database = new BenchDatabase()) {
            List<Bench> benches = new ArrayList<>();
            try {
                String program = System.getProperty("load.program", "target/mintmark.jar");
                benches.add(new Bench("today", Path.of(program), database));
                String references = System.getProperty("load.reference", "");
                for (String reference : references.isEmpty() ? NONE : references.split(",", -1)) {
                    String name = "reference" + benches.size();
                    System.out.printf("%s is %s%n", name, reference);
                    benches.add(new Bench(name, Path.of(reference), database));
                }
                new LoadBenchmark(benches).run(System.getProperty("load.what", "all"));
            } finally {
                for (Bench bench : benches) {
                    bench.close();
                }
            }
        }
    }

    /** Statements at a tenth and at the whole of a size. */
    private static void scale() throws Exception {
        if (!Scale.print(
                Long.getLong("load.rows", 1_000_000),
                TENANTS,
                Integer.getInteger("load.grants", 50_000))) {
            throw new IllegalStateException("A statement takes longer than its limit.");
        }
    }

    /** A log of mostly old rows, sealed each minute. */
    private static void sealing() throws Exception {
        if (!SealedHours.print(Long.getLong("load.rows", 1_000_000), TIME)) {
            throw new IllegalStateException("A minute passed without a checkpoint.");
        }
    }

    private void run(String what) throws Throwable {
        boolean all = what.equals("all");
        printMachine();
        if (all || what.contains("starts")) {
            new Starts(benches, CLIENTS).run(ROUNDS);
        }
        if (all || what.contains("mixes")) {
            warm();
            for (int round = 0; round < ROUNDS; round++) {
                mixes();
            }
            print();
        }
        if (all || what.contains("delayed")) {
            delayed();
            print();
        }
        if (all || what.contains("grants")) {
            grants();
            print();
        }
        if (what.contains("speed")) {
            speed();
        }
        if (what.contains("database")) {
            new DatabaseUse(benches.getFirst(), CLIENTS, TIME).run();
        }
        if (what.contains("tenants")) {
            tenants();
            print();
        }
        if (what.contains("cells")) {
            new CellFigures(benches.getFirst(), CLIENTS, TENANTS).run(WARM, TIME);
        }
        if (what.contains("soak")) {
            new Soak(benches.getFirst(), TIME).run();
        }
    }

    private static void printMachine() throws IOException {
        String processor =
                Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                        .filter(line -> line.startsWith("model name"))
                        .findFirst()
                        .map(line -> line.replaceAll(".*: ", ""))
                        .orElse("unknown");
        System.out.printf(
                "%d cores of %s, Java %s, %s s a line%n%n",
                Runtime.getRuntime().availableProcessors(),
                processor,
                Runtime.version(),
                TIME.toSeconds());
    }

    private static byte[] oneKey(Bench bench) {
        return bench.mint(Token.RS256, "aws1");
    }

    /** Once is enough for all parts. */
    private void warm() {
        if (warm) {
            return;
        }
        warm = true;
        for (Bench bench : benches) {
            bench.load().run(CLIENTS, WARM, _ -> oneKey(bench));
        }
    }

    private void mixes() throws SQLException, IOException {
        each("mint, one key", CLIENTS, LoadBenchmark::oneKey);
        each("mint, one connection", 1, LoadBenchmark::oneKey);
        each("mint, three keys", CLIENTS, b -> b.mint(Token.RS256, "aws1", "aws2", "aws3"));
        each("mint, ES256 token", CLIENTS, b -> b.mint(Token.ES256, "aws1"));
        each("mint, a jwt key", CLIENTS, b -> b.mint(Token.RS256, "jwt1"));
        each("GET /sdk/aws/{key}", CLIENTS, Bench::awsSdk);
        each("POST /oauth2/token", CLIENTS, Bench::tokenExchange);
        each("list of keys", CLIENTS, Bench::list);
        each("refused: not granted", CLIENTS, b -> b.mint(Token.STRANGER, "aws1"));
    }

    /**
     * What a change of the request's path may cost: the first ten seconds of a process, and mints
     * and lists of few and of many connections, in turns with the reference.
     *
     * @throws IllegalStateException if something is slower than the reference by a tenth
     */
    private void speed() throws SQLException, IOException, InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            for (Bench bench : benches) {
                bench.restart();
                measure(bench, "the first ten seconds", CLIENTS, FIRST, LoadBenchmark::jwt);
            }
        }
        warm();
        for (int round = 0; round < ROUNDS; round++) {
            for (int clients : List.of(2, 8, 32)) {
                each("mint, %d connections".formatted(clients), clients, LoadBenchmark::jwt);
                each("list, %d connections".formatted(clients), clients, Bench::list);
            }
        }
        Ratios ratios = Ratios.of(medians());
        print();
        System.out.println(ratios);
        if (ratios.anyBelow(SLOWER)) {
            throw new IllegalStateException("Something is slower by more than a tenth.");
        }
    }

    private static byte[] jwt(Bench bench) {
        return bench.mint(Token.RS256, "jwt1");
    }

    /** A provider that takes its time, and another tenant beside its busiest one. */
    private void delayed() throws SQLException, IOException {
        for (Bench bench : benches) {
            bench.sts().delay(PROVIDER);
        }
        each("another tenant alone, 50 ms", 4, LoadBenchmark::other);
        for (int clients : List.of(50, 150, 500, 2_000)) {
            for (Bench bench : benches) {
                CompletableFuture<Void> beside =
                        CompletableFuture.runAsync(
                                () -> neighbour(bench, clients), Thread::startVirtualThread);
                measure(
                        bench,
                        "%,d clients, 50 ms".formatted(clients),
                        clients,
                        TIME,
                        b -> oneKey(b));
                beside.join();
            }
        }
        for (Bench bench : benches) {
            bench.sts().delay(Duration.ZERO);
        }
    }

    private static byte[] other(Bench bench) {
        return bench.mint(Token.OTHER, "aws1");
    }

    private void neighbour(Bench bench, int clients) {
        Load.Result result = bench.load().run(4, TIME, n -> other(bench));
        System.out.printf(
                "%s: another tenant beside %,d clients: median %.1f ms, p99 %.1f ms%n",
                bench.name(), clients, result.within(500), result.within(990));
    }

    /** One grant among ten, among 100,000 of its tenant. */
    private void grants() throws SQLException, IOException {
        each("a grant among ten", CLIENTS, LoadBenchmark::oneKey);
        for (Bench bench : benches) {
            bench.database()
                    .run(
                            bench.name(),
                            """
                            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                            SELECT 'acme', 'rsa', 'bulk:' || n, 'aws1' FROM generate_series(1, 100000) AS n
                            """);
        }
        each("a grant among 100,000 of its tenant", CLIENTS, LoadBenchmark::oneKey);
        each("again: a grant among 100,000", CLIENTS, LoadBenchmark::oneKey);
    }

    /** A grant among a hundred of its tenant, and tenants in great number: one after the other. */
    private void tenants() throws SQLException, IOException {
        for (Bench bench : benches) {
            ManyTenantsData.load(bench, TENANTS);
            List<byte[]> requests =
                    IntStream.rangeClosed(1, CLIENTS)
                            .mapToObj(n -> ManyTenantsData.mint(bench, n * (TENANTS / CLIENTS)))
                            .toList();
            for (String what : List.of("first: many tenants", "a jwt key, of many tenants")) {
                record(bench, what, CLIENTS, TIME, requests::get);
            }
        }
        each("the same key type, one tenant", CLIENTS, b -> b.mint(Token.RS256, "jwt1"));
    }

    private void each(String what, int clients, Function<Bench, byte[]> request)
            throws SQLException, IOException {
        if (!LINES.matcher(what).find()) {
            return;
        }
        for (Bench bench : benches) {
            measure(bench, what, clients, TIME, request);
        }
    }

    private void measure(
            Bench bench, String what, int clients, Duration time, Function<Bench, byte[]> request)
            throws SQLException, IOException {
        byte[] bytes = request.apply(bench);
        record(bench, what, clients, time, _ -> bytes);
    }

    private void record(
            Bench bench, String what, int clients, Duration time, IntFunction<byte[]> requests)
            throws SQLException, IOException {
        long rows = bench.issued();
        Measured.Reading before = Measured.Reading.of(bench.broker());
        Load.Result result = bench.load().run(clients, time, requests);
        Measured done =
                new Measured(
                        what,
                        bench.name(),
                        result,
                        before.until(Measured.Reading.of(bench.broker())),
                        bench.issued() - rows,
                        bench.broker().residentMebibytes());
        measured.computeIfAbsent(what + "|" + bench.name(), _ -> new ArrayList<>()).add(done);
    }

    /** The median of the rounds, by what a CPU-second did. */
    private void print() {
        System.out.println(Measured.HEADER);
        medians().forEach(System.out::println);
        System.out.println();
        measured.clear();
    }

    private List<Measured> medians() {
        return measured.values().stream()
                .map(rounds ->
                        rounds.stream()
                                .sorted(Comparator.comparingDouble(Measured::perProcessorSecond))
                                .toList()
                                .get(rounds.size() / 2))
                .toList();
    }
}
