package io.mintmark.auditor.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.sql.Seals;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Rows of a mint in any order and far from each other: no further row takes an objection away. */
class MintLedgerTest {
    private static final String MINT = "0199f2c4-0000-7000-8000-000000000001";
    private static final String WHY = "nobody granted it";
    private static final int COLUMNS = 29;

    private static LogReader.Row row(String mint, String text) {
        String[] parts = text.split(" ", 3);
        List<@Nullable String> fields =
                new ArrayList<>(Collections.nCopies(COLUMNS, (String) null));
        fields.set(0, mint);
        fields.set(1, parts[1]);
        fields.set(2, parts[0]);
        fields.set(16, parts.length > 2 ? parts[2] : null);
        return new LogReader.Row("2.a", "Row " + text, 1L, "0", fields, "", "", "");
    }

    private static Seals.Found found(List<String> rows, boolean isPart) {
        Seals.Found found = new Seals.Found();
        try (MintLedger ledger = new MintLedger(found, isPart, false)) {
            for (String row : rows) {
                boolean requested = row.startsWith("requested");
                ledger.add(
                        MintStep.read(
                                row(MINT, row),
                                requested
                                        ? Optional.of(new Objection(WHY, true, Optional.empty()))
                                        : Optional.empty()));
            }
            ledger.end(Optional.empty());
        }
        return found;
    }

    private static List<List<String>> permutations(List<String> rows) {
        if (rows.isEmpty()) {
            return List.of(List.of());
        }
        List<List<String>> all = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            List<String> rest = new ArrayList<>(rows);
            String first = rest.remove(i);
            for (List<String> behind : permutations(rest)) {
                List<String> whole = new ArrayList<>(List.of(first));
                whole.addAll(behind);
                all.add(whole);
            }
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    requested 1; issued 2; failed 2 decided_again              | appears more than once
                    requested 1; failed 2 provider_error; failed 2 decided_again | appears more than once
                    requested 1; issued 2; failed 4 decided_again              | no broker writes kind failed
                    requested 1; issued 2; failed 5 decided_again; ended 3     | no broker writes kind failed
                    requested 1; withheld 2; denied 2                          | appears more than once
                    requested 1; issued 2; ended 3; ended 3                    | appears more than once
                    requested 1; requested 1; issued 2                         | appears more than once
                    requested 1; issued 2; approved 2                          | no broker writes kind approved
                    """)
    void a_row_that_no_broker_writes_is_wrong_and_clears_no_mint(String rows, String finding) {
        for (List<String> order : permutations(Arrays.asList(rows.split("; ")))) {
            Seals.Found found = found(order, false);
            assertEquals(1, found.wrong.size(), () -> order + " " + found.wrong);
            assertTrue(found.wrong.getFirst().contains(finding), found.wrong::toString);
            assertEquals(WHY, found.ungranted.get(MINT), order::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "requested 1; failed 2 decided_again",
        "requested 1; failed 2 audit_unavailable",
    })
    void a_mint_whose_provider_was_not_called_needs_no_grant(String rows) {
        for (List<String> order : permutations(Arrays.asList(rows.split("; ")))) {
            Seals.Found found = found(order, false);
            assertEquals(List.of(), found.wrong);
            assertEquals("{}", found.ungranted.toString());
        }
    }

    @Test
    void a_part_may_lack_requests_but_has_no_row_twice() {
        assertEquals(List.of(), found(List.of("ended 3"), true).wrong);
        assertEquals(1, found(List.of("ended 3", "ended 3"), true).wrong.size());
        assertEquals(1, found(List.of("ended 3"), false).wrong.size());
    }

    @Test
    void an_outcome_needs_a_request_unless_its_commit_was_unsure() {
        for (String outcome : List.of("issued 2", "withheld 2", "failed 2 provider_error")) {
            assertEquals(
                    List.of("Mint %s has an outcome but was never requested".formatted(MINT)),
                    found(List.of(outcome), false).wrong);
            assertEquals(List.of(), found(List.of(outcome), true).wrong);
        }
        assertEquals(List.of(), found(List.of("failed 2 audit_unavailable"), false).wrong);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 6, 7, 8, 9, 10, 11, 12})
    void an_outcome_says_of_its_mint_what_the_request_says(int field) {
        for (String outcome : List.of("issued 2", "withheld 2", "failed 2 decided_again")) {
            Seals.Found found = new Seals.Found();
            try (MintLedger ledger = new MintLedger(found, true, true)) {
                ledger.add(MintStep.read(row(MINT, "requested 1"), Optional.empty()));
                LogReader.Row other = row(MINT, outcome);
                other.fields().set(field, "another");
                ledger.add(MintStep.read(other, Optional.empty()));
                ledger.end(Optional.empty());
            }
            assertEquals(
                    List.of("The rows of mint %s contradict each other".formatted(MINT)),
                    found.wrong);
        }
    }

    @Tag("heavy")
    @Test
    void more_mints_than_memory_has_are_compared_all_the_same() {
        Seals.Found found = new Seals.Found();
        int count = 600_000;
        try (MintLedger ledger = new MintLedger(found, false, false)) {
            for (int step = 1; step <= 2; step++) {
                for (int i = 0; i < count; i++) {
                    String mint = new UUID(0x0199f2c400007000L, i).toString();
                    ledger.add(
                            MintStep.read(
                                    row(mint, step == 1 ? "requested 1" : "issued 2"),
                                    Optional.empty()));
                }
            }
            for (int i = 0; i < count; i++) {
                ledger.add(
                        MintStep.read(row(MINT, "failed 2 audit_unavailable"), Optional.empty()));
            }
            ledger.end(Optional.empty());
        }
        assertEquals(
                List.of("A step of mint %s appears more than once".formatted(MINT)), found.wrong);
        assertTrue(found.told.getFirst().startsWith("1 mints have an outcome"));
    }
}
