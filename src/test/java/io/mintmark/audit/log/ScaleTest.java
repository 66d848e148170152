package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.log.Scale.Grown;
import io.mintmark.audit.log.StatementCosts.Cost;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Timers, requests, edits and exports cost the same whatever else the database holds, and {@code
 * audit verify} and {@code audit retire} no more than by the number of rows, and pages within a
 * bound. The look at all chains, at each start and each hour, asks for the last change of each
 * tenant.
 */
@Tag("heavy")
class ScaleTest {
    private static final int TIMES = 8;
    private static final int ROWS = 10_000;
    private static final int TENANTS = 100;
    private static final int GRANTS = 500;

    /** A statement that reads all rows may read so many more blocks than there are more rows. */
    private static final double LINEAR = 1.25;

    /** That a statement of a page, or of a file, may look at. */
    private static final double BLOCKS_OF_A_PAGE = 60_000;

    private static final double BLOCKS_OF_A_FILE = 250_000;

    @Test
    void only_what_asks_for_all_rows_becomes_dearer_with_their_number() throws Exception {
        List<Cost> small = Scale.measured(ROWS, TENANTS, GRANTS, false);
        List<Cost> large = Scale.measured(TIMES * ROWS, TIMES * TENANTS, TIMES * GRANTS, true);
        Scale scale = new Scale(small, large);
        List<Grown> grown = scale.grown(Scale.RATIO);
        assertTrue(
                grown.stream()
                        .anyMatch(it -> it.large().what().equals(ScaledInstallation.ALL_ROWS)),
                "what reads all rows must be noticed: " + grown);
        assertEquals("", shown(grown.stream().filter(it -> !mayGrow(it.large()))));
        assertEquals(
                "",
                shown(scale.grown(LINEAR * TIMES).stream()),
                "dearer than by the number of rows");
        assertEquals("", shown(large.stream().filter(ScaleTest::isTooMuchForAPage)));
    }

    private static String shown(Stream<? extends Record> costs) {
        return costs.map(Record::toString).collect(Collectors.joining("\n"));
    }

    private static boolean isTooMuchForAPage(Cost cost) {
        double most = cost.what().endsWith("as a file") ? BLOCKS_OF_A_FILE : BLOCKS_OF_A_PAGE;
        return cost.what().startsWith(ScaledInstallation.PAGE) && cost.blocks() > most;
    }

    private static boolean mayGrow(Cost cost) {
        return Scale.isOfAll(cost) || Scale.isOfAllTenants(cost);
    }
}
