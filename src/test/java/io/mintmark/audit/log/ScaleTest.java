package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.log.ScaledInstallation.Cost;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;

/**
 * Timers, requests, edits and exports cost the same whatever else the database holds. The look at
 * all chains, at each start and each hour, asks for the last change of each tenant.
 */
@Tag("heavy")
class ScaleTest {
    private static final int TIMES = 8;
    private static final int ROWS = 10_000;
    private static final int TENANTS = 100;
    private static final int GRANTS = 500;

    @Test
    void only_what_asks_for_all_rows_becomes_dearer_with_their_number() throws Exception {
        List<Cost> small = Scale.measured(ROWS, TENANTS, GRANTS, false);
        List<Cost> large = Scale.measured(TIMES * ROWS, TIMES * TENANTS, TIMES * GRANTS, false);
        List<Cost> grown = new Scale(small, large).grown();
        assertTrue(
                grown.stream().anyMatch(cost -> cost.what().equals(ScaledInstallation.ALL_ROWS)),
                "what reads all rows must be noticed: " + grown);
        assertEquals(List.of(), grown.stream().filter(cost -> !asksForAll(cost)).toList());
    }

    private static boolean asksForAll(Cost cost) {
        return cost.what().equals(ScaledInstallation.ALL_ROWS)
                || cost.statement().contains("UNION ALL SELECT tenant.name FROM broker.tenant");
    }
}
