package io.mintmark.console.verification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.console.Viewer;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** What a run says of itself, while it lasts and afterwards. */
class ProofRunTest {
    private static final Viewer VIEWER = new Viewer("audrey", "{}");

    @Test
    void a_declared_gap_is_shown_too_and_not_as_an_alteration() {
        ProofRun run = new ProofRun("audrey", Instant.parse("2026-03-01T12:00:00Z"), 10);

        run.declared("Checkpoint 3 declares a gap", "00");

        assertFalse(run.isClean());
        assertFalse(run.isWrong());
        assertEquals(
                List.of(new Finding(Finding.Kind.DECLARED, "Checkpoint 3 declares a gap")),
                run.findings());
    }

    @Test
    void a_doubt_is_no_alteration_and_no_declaration() {
        Instant begun = Instant.parse("2026-03-01T12:00:00Z");
        ProofRun run = new ProofRun("audrey", begun, 10);

        run.doubtful("Change 12 of tenant acme was sealed late", "00");
        run.end(begun.plusSeconds(1), Optional.empty(), Optional.empty());

        assertFalse(run.isClean());
        assertFalse(run.isWrong());
        assertEquals(
                "Nothing was changed up to checkpoint 0, as this database has it. Explain or"
                        + " accept the doubts.",
                run.verdict());
    }

    @Test
    void a_run_says_how_far_it_is_and_what_is_left() {
        Instant begun = Instant.parse("2026-03-01T12:00:00Z");
        ProofRun run = new ProofRun("audrey", begun, 100_000);

        run.progress(20_000, 20_000);

        Instant now = begun.plusSeconds(10);
        assertEquals(2_000, run.rate(now));
        assertEquals(20, run.percent());
        assertEquals(Optional.of(Duration.ofSeconds(41)), run.left(now));
        assertEquals("in progress", run.verdict());
    }

    @Test
    void what_a_page_has_seen_does_not_change_while_it_is_written() {
        Instant begun = Instant.parse("2026-03-01T12:00:00Z");
        ProofRun run = new ProofRun("audrey", begun, 10);
        run.declared("Checkpoint 3 declares a gap", "00");
        ProofRun seen = run.asItIs();

        run.wrong("wrong_row: event 7");
        run.end(begun.plusSeconds(1), Optional.empty(), Optional.empty());

        assertEquals(Optional.empty(), seen.end());
        assertEquals("in progress", seen.verdict());
        assertEquals(1, seen.findings().size());
        assertEquals(run.end(), run.asItIs().end());
        assertEquals(run.findings(), run.asItIs().findings());
    }

    @Test
    void a_run_that_failed_without_a_word_proves_nothing() {
        Proof proof =
                new Proof(
                        _ -> {
                            throw new IllegalStateException();
                        },
                        _ -> Optional.empty(),
                        Optional.of(() -> new TrustedKeys(List.of())),
                        InstantSource.system());

        proof.begin(VIEWER, 1);

        Eventually.holds(() -> proof.last().orElseThrow().end().isPresent());
        ProofRun run = proof.last().orElseThrow();
        assertFalse(run.isClean());
        assertEquals("Verification did not complete; the log's state is unknown.", run.verdict());
    }

    @Test
    void a_finding_names_the_mint_that_comes_first_if_any() {
        String mint = "0198f1e2-0000-7000-8000-000000000000";

        assertEquals(
                Optional.of(mint),
                new Finding(Finding.Kind.WRONG, "mint %s: no grant".formatted(mint)).mint());
        assertEquals(
                Optional.empty(),
                new Finding(Finding.Kind.WRONG, "Change 7 of tenant acme and mint " + mint).mint());
        assertEquals(
                Optional.empty(), new Finding(Finding.Kind.WRONG, "Chain x lacks row 3").mint());
    }
}
