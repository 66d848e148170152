package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.audit.checkpoint.CheckpointLines;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.output.CommandFailed;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

class KeptCheckpointsTest {
    @TempDir private Path directory;
    private Path file = Path.of("");

    @BeforeEach
    void writeTwo() throws IOException {
        file = Files.createFile(directory.resolve("kept.jsonl"));
        write(line(1) + "\na line of the log\n" + line(2) + "\n");
    }

    private void write(String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.APPEND);
    }

    private static String line(long number) {
        return "{\"checkpoint\":%d,\"sealed_at\":\"2026-03-04T05:06:07Z\",\"jws\":\"a.b.c\"}"
                .formatted(number);
    }

    private static List<Long> numbers(KeptCheckpoints kept) {
        return kept.read(all -> all.map(SignedCheckpoint::number).toList());
    }

    @Test
    void checkpoints_are_found_among_other_lines() {
        assertEquals(List.of(1L, 2L), numbers(new KeptCheckpoints(file)));
    }

    @Test
    void a_long_one_in_pieces_is_one_checkpoint() throws IOException {
        SignedCheckpoint third =
                new SignedCheckpoint(
                        3,
                        Instant.parse("2026-03-04T05:06:07Z"),
                        "a." + "b".repeat(200_000) + ".c",
                        Optional.empty());
        List<String> pieces = CheckpointLines.of(third);
        write(String.join("\n", pieces.subList(1, pieces.size())) + "\n");
        assertEquals(List.of(1L, 2L), numbers(new KeptCheckpoints(file)));
        write(pieces.getFirst() + "\n");
        assertEquals(List.of(1L, 2L, 3L), numbers(new KeptCheckpoints(file)));
    }

    @Test
    void one_that_the_broker_writes_meanwhile_is_not_missed_in_the_log() throws IOException {
        write("{\"checkpoint\":3,\"sealed_at\":\"2026-03-");
        KeptCheckpoints kept = new KeptCheckpoints(file);
        write("04T05:06:07Z\",\"jws\":\"a.b.c\"}\n" + line(4) + "\n");
        assertEquals(List.of(1L, 2L), numbers(kept));
        assertEquals(List.of(1L, 2L, 3L, 4L), numbers(new KeptCheckpoints(file)));
    }

    @Test
    void checkpoints_that_are_gone_at_the_second_reading_prove_nothing() throws IOException {
        KeptCheckpoints kept = new KeptCheckpoints(file);
        Files.writeString(file, line(1) + "\n");
        assertThrows(CommandFailed.class, () -> numbers(kept));
    }

    @Test
    void what_is_no_file_is_refused_and_not_waited_for() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertThrows(CommandFailed.class, () -> new KeptCheckpoints(pipe));
        assertThrows(CommandFailed.class, () -> new KeptCheckpoints(directory));
        Path none = directory.resolve("none");
        assertThrows(CommandFailed.class, () -> new KeptCheckpoints(none));
    }

    @Test
    void a_file_that_holds_none_is_refused_and_no_file_holds_none() throws IOException {
        assertEquals(List.of(), numbers(new KeptCheckpoints(null)));
        Path other = Files.createFile(directory.resolve("other.jsonl"));
        assertThrows(CommandFailed.class, () -> new KeptCheckpoints(other));
    }
}
