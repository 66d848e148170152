package io.mintmark.auditor.command;

import io.mintmark.base.output.CommandFailed;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Recognizes the format of a file that {@code verify --export} is given. */
final class ExportKind {
    /** The number of characters at the beginning of a file that are examined. */
    private static final int BEGINNING = 64 * 1024;

    private static final String INSTEAD =
            ". Verify the log in its database, or an export written with --all as jsonl or ocsf";

    private ExportKind() {}

    /**
     * Rejects exports of another format, and those that lack what a proof needs. Other content is
     * for the verification to judge, and so is a file that can't be read. A pipe can be read once,
     * so it isn't looked at.
     */
    static void requireProvable(Path file, ExportFormat format) {
        if (format == ExportFormat.CSV) {
            throw new CommandFailed("--format: a CSV export can't be verified" + INSTEAD);
        }
        String start = Files.isRegularFile(file) ? beginning(file) : "";
        boolean isOcsf = start.startsWith("{") && start.contains("\"class_uid\"");
        if (start.startsWith("mint_id,step,")) {
            throw new CommandFailed(
                    "--export: '%s' is a CSV export, which has no changes and no checkpoints, so it can't be verified"
                                    .formatted(file)
                            + INSTEAD);
        }
        if (isOcsf && format == ExportFormat.JSONL) {
            throw new CommandFailed(
                    "--export: '%s' is an OCSF export. To verify it, add --format ocsf"
                            .formatted(file));
        }
        if (!isOcsf && start.startsWith("{\"") && format == ExportFormat.OCSF) {
            throw new CommandFailed(
                    "--export: '%s' is not an OCSF export. To verify jsonl, leave out --format ocsf"
                            .formatted(file));
        }
    }

    private static String beginning(Path file) {
        try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            char[] start = new char[BEGINNING];
            int length = reader.read(start);
            return new String(start, 0, Math.max(0, length)).stripLeading();
        } catch (IOException _) {
            return ""; // the verification reads it next, and says why it can't
        }
    }
}
