package io.mintmark.auditor.command;

import io.mintmark.base.output.CommandFailed;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Which format a file that somebody wants to verify has. */
final class ExportKind {
    /** Characters of the beginning of a file that are looked at. */
    private static final int BEGINNING = 64 * 1024;

    private ExportKind() {}

    /**
     * Rejects exports that lack what a proof needs. Other content is for the verification to judge,
     * and so is a file that can't be read. A pipe can be read once, so it isn't looked at.
     */
    static void requireProvable(Path file) {
        String start = Files.isRegularFile(file) ? beginning(file) : "";
        if (start.startsWith("{") && start.contains("\"class_uid\"")) {
            throw unfit(file, "an OCSF export, whose rows lack fields that are hashed");
        }
        if (start.startsWith("mint_id,step,")) {
            throw unfit(file, "a CSV export, which has no changes and no checkpoints");
        }
    }

    private static String beginning(Path file) {
        try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            char[] start = new char[BEGINNING];
            int length = reader.read(start);
            return new String(start, 0, Math.max(0, length)).stripLeading();
        } catch (IOException _) {
            return "";
        }
    }

    private static CommandFailed unfit(Path file, String what) {
        return new CommandFailed(
                ("--export: '%s' is %s, so it can't be verified. Verify the log at its database, or"
                                + " a jsonl export (audit export --all --state FILE, or --all --from"
                                + " --to); an OCSF row has its chain and seq in metadata.uid, and"
                                + " its hash in unmapped, to be compared with the jsonl row of that"
                                + " place")
                        .formatted(file, what));
    }
}
