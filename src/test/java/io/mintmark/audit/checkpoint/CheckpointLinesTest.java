package io.mintmark.audit.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

class CheckpointLinesTest {
    private static final SignedCheckpoint SHORT = checkpoint(7, 100);
    private static final SignedCheckpoint LONG = checkpoint(1, 428_000);
    private static final SignedCheckpoint OTHER = checkpoint(1, 200_000);

    private static SignedCheckpoint checkpoint(long number, int length) {
        return new SignedCheckpoint(
                number,
                Instant.parse("2026-03-04T05:06:07Z"),
                "a." + "b".repeat(length) + ".c",
                Optional.of("d".repeat(length)),
                Optional.of("a note\n\n\u2014 name signature\n"));
    }

    private static List<SignedCheckpoint> read(List<String> lines) {
        CheckpointLines reader = new CheckpointLines();
        return lines.stream().flatMap(line -> reader.next(line).stream()).toList();
    }

    @Test
    void a_short_checkpoint_is_one_line() {
        assertEquals(List.of(SHORT.line()), CheckpointLines.of(SHORT));
        assertEquals(List.of(SHORT), read(CheckpointLines.of(SHORT)));
    }

    @Test
    void a_long_checkpoint_is_in_lines_of_less_than_64_kilobytes_that_begin_with_its_number() {
        List<String> lines = CheckpointLines.of(LONG);
        assertTrue(lines.size() > 10, "only " + lines.size());
        for (String line : lines) {
            assertTrue(line.length() < 64_000, "has " + line.length());
            assertTrue(line.startsWith("{\"checkpoint\":1,"), line.substring(0, 40));
            assertEquals(Optional.empty(), SignedCheckpoint.in(line));
        }
        assertEquals(List.of(LONG), read(lines));
    }

    @Test
    void pieces_are_joined_in_any_order_and_among_those_of_another_and_other_lines() {
        List<String> lines = new ArrayList<>(CheckpointLines.of(LONG));
        lines.addAll(CheckpointLines.of(OTHER));
        lines.add(SHORT.line());
        lines.add("{\"piece\": \"of something else\"}");
        lines.add("a line with \"piece\" in it");
        Collections.shuffle(lines, new Random(1));
        List<SignedCheckpoint> found = read(lines);
        assertEquals(3, found.size());
        assertTrue(found.containsAll(List.of(SHORT, LONG, OTHER)));
    }

    @Test
    void without_a_piece_or_with_a_changed_one_there_is_no_checkpoint() {
        List<String> lines = new ArrayList<>(CheckpointLines.of(LONG));
        String second = lines.remove(1);
        assertEquals(List.of(), read(lines));
        lines.add(second.replaceFirst("bbb", "bab"));
        assertEquals(List.of(), read(lines));
    }
}
