package io.mintmark.audit.log;

import io.mintmark.audit.log.StatementCosts.Cost;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The costs of the same statements at two sizes of the database. Prints the table of {@code mvn
 * integration-test -Pload -Dload.what=scale}.
 */
public final class Scale {
    /** Two database blocks are looked at where one was, or the plan was made from cold catalogs. */
    static final double RATIO = 2;

    private static final double FEW_BLOCKS = 1_000;

    /**
     * Blocks that a statement may read that each replica runs every second or more often. A
     * connection that runs it for the first time plans it, which reads a few hundred.
     */
    private static final double FEW_BLOCKS_OF_A_POLL = 100;

    /** The limit for a statement of a timer, a request, an edit or an export. */
    private static final double MOST_MILLIS = 500;

    /** The limit for a statement of a page or a file. */
    private static final double MOST_MILLIS_OF_A_PAGE = 1_500;

    /** The limit for the last change of each tenant, which no request waits for. */
    private static final double MOST_MILLIS_OF_ALL_TENANTS = 2_000;

    /** The milliseconds that a statement may take for each row that it returns. */
    private static final double MILLIS_OF_A_ROW = 0.05;

    private static final double SHOWN_MILLIS = 1;
    private static final int SHOWN = 90;

    private final Map<String, Cost> small = new HashMap<>();
    private final List<Cost> large;

    Scale(List<Cost> small, List<Cost> large) {
        small.forEach(cost -> this.small.put(cost.key(), cost));
        this.large = List.copyOf(large);
    }

    /**
     * Measures and prints.
     *
     * @param rows of the log, of the larger size; the smaller one has a tenth of everything
     * @param grants of the tenant that has the most
     * @return whether every statement is within its limit
     */
    public static boolean print(long rows, int tenants, int grants) throws Exception {
        Scale scale =
                new Scale(
                        measured(rows / 10, tenants / 10, grants / 10, true),
                        measured(rows, tenants, grants, true));
        System.out.printf(
                "| for | statement | calls | ms, a tenth | ms | limit | blocks, a tenth | blocks | rows |%n"
                        + "|---|---|---|---|---|---|---|---|---|%n");
        scale.large.stream()
                .filter(cost -> cost.millis() >= SHOWN_MILLIS)
                .sorted((one, other) -> Double.compare(other.millis(), one.millis()))
                .forEach(scale::print);
        System.out.printf("%nNot run: %s%n", String.join(", ", scale.notRun()));
        return scale.large.stream()
                .filter(cost -> !isOfAll(cost))
                .allMatch(cost -> cost.millis() <= limit(cost));
    }

    static List<Cost> measured(long rows, int tenants, int grants, boolean pages) throws Exception {
        try (ScaledInstallation installation = new ScaledInstallation(rows, tenants, grants)) {
            return installation.run(pages);
        }
    }

    private void print(Cost cost) {
        Cost before = small.getOrDefault(cost.key(), new Cost("", "", 0, 0, 0, 0));
        System.out.printf(
                "| %s | `%s` | %d | %.1f | %.1f | %.0f | %.0f | %.0f | %.0f |%n",
                cost.what(),
                cost.statement()
                        .substring(0, Math.min(SHOWN, cost.statement().length()))
                        .replace("|", "\\|"),
                cost.calls(),
                before.millis(),
                cost.millis(),
                limit(cost),
                before.blocks(),
                cost.blocks(),
                cost.rows());
    }

    private static double limit(Cost cost) {
        double most =
                cost.what().startsWith(ScaledInstallation.PAGE)
                        ? MOST_MILLIS_OF_A_PAGE
                        : isOfAllTenants(cost) ? MOST_MILLIS_OF_ALL_TENANTS : MOST_MILLIS;
        return Math.max(most, cost.rows() * MILLIS_OF_A_ROW);
    }

    /** Whether the statement asks for the last change of each tenant: at a start, and each hour. */
    static boolean isOfAllTenants(Cost cost) {
        return cost.statement().contains("UNION ALL SELECT tenant.name FROM broker.tenant");
    }

    /** The statements that classes keep as constants, and that nothing ran. */
    private List<String> notRun() throws IOException {
        Set<String> run = large.stream().map(Cost::statement).collect(Collectors.toSet());
        return ProgramStatements.all().entrySet().stream()
                .filter(each -> !ProgramStatements.isAmong(each.getValue(), run))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Whether the statement was run for something that reads all rows. */
    static boolean isOfAll(Cost cost) {
        return Set.of(
                        ScaledInstallation.ALL_ROWS,
                        ScaledInstallation.VERIFY,
                        ScaledInstallation.RETIRE)
                .contains(cost.what());
    }

    /**
     * What became dearer with rows that it doesn't return: by the blocks that it looked at, which
     * no load changes.
     *
     * @param ratio of the blocks up to which a statement isn't dearer
     */
    List<Grown> grown(double ratio) {
        return large.stream()
                .flatMap(cost ->
                        Optional.ofNullable(small.get(cost.key())).stream()
                                .map(before -> new Grown(before, cost)))
                .filter(grown -> grown.isBeyond(ratio))
                .toList();
    }

    /** The cost of a statement at both sizes. */
    record Grown(Cost small, Cost large) {
        private boolean isBeyond(double ratio) {
            return large.blocks() > ratio * small.blocks() + few(large);
        }
    }

    private static double few(Cost cost) {
        return cost.what().equals(ScaledInstallation.POLLS) ? FEW_BLOCKS_OF_A_POLL : FEW_BLOCKS;
    }
}
