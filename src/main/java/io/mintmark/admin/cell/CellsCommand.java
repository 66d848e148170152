package io.mintmark.admin.cell;

import io.mintmark.base.output.CommandFailed;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code cells}: runs another command once with the settings of each cell. A cell where it fails
 * doesn't keep the command from the other cells.
 */
@Command(
        name = "cells",
        description = {
            "Runs another command in each cell, one cell after the other. The directory has a file"
                    + " of settings for each cell, NAME.yaml.",
            "In the arguments of the command, {cell} is replaced by the cell's name. Standard error"
                    + " has a line with the result of each cell.",
            "Example: mintmark cells /etc/mintmark/cells audit verify --keys trusted.pem"
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the command succeeded in all cells",
            "N:the command exited with N in some cells, and succeeded in the others",
            "1:cells failed with different exit codes, or the command could not run"
        },
        mixinStandardHelpOptions = true)
public final class CellsCommand implements Callable<Integer> {
    private static final String FILE_NAME = ".yaml";
    private static final String PLACEHOLDER = "{cell}";

    /** A variable overrides the files, so all cells would have the same value. */
    private static final Set<String> OF_ONE_CELL =
            Set.of("DATABASE_URL", "BROKER_URL", "BROKER_ISSUER", "CONSOLE_URL");

    /** Commands that run until they are stopped, so no other cell would follow. */
    private static final Set<String> ENDLESS = Set.of("serve", "console", "cells", "witness");

    /** The option that makes a command run until it is stopped. */
    private static final String FOLLOW = "--follow";

    private final Map<String, String> environment;
    private final Runner runner;
    private final PrintStream results;

    @Parameters(
            index = "0",
            paramLabel = "DIRECTORY",
            description = "The directory with the settings of the cells.")
    private @Nullable Path directory;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "The command with its options, without mintmark.")
    private List<String> command = List.of();

    /** Runs a command of the command line. */
    @FunctionalInterface
    public interface Runner {
        /** Runs it with these variables, and returns the exit status. */
        int run(Map<String, String> environment, String... arguments);
    }

    /**
     * @param environment variables by name
     */
    public CellsCommand(Map<String, String> environment, Runner runner, PrintStream results) {
        this.environment = Map.copyOf(environment);
        this.runner = runner;
        this.results = results;
    }

    @Override
    public Integer call() {
        requireSense();
        Map<String, Integer> statuses = new LinkedHashMap<>();
        files().forEach((cell, file) -> statuses.put(cell, run(cell, file)));
        statuses.forEach((cell, status) ->
                results.printf(
                        "cell %s: %s%n",
                        cell, status == 0 ? "succeeded" : "failed with exit code " + status));
        Set<Integer> failures =
                statuses.values().stream()
                        .filter(status -> status != 0)
                        .collect(Collectors.toUnmodifiableSet());
        return switch (failures.size()) {
            case 0 -> 0;
            case 1 -> failures.iterator().next();
            default -> 1;
        };
    }

    private void requireSense() {
        for (String variable : OF_ONE_CELL) {
            if (!environment.getOrDefault(variable, "").isBlank()) {
                throw new CommandFailed(
                        "%s is set in the environment, which overrides the files of all cells; unset it"
                                .formatted(variable));
            }
        }
        String name = command.getFirst();
        if (ENDLESS.contains(name) || command.contains(FOLLOW)) {
            throw new CommandFailed(
                    "mintmark cells can't run a command with '%s', because it would not end by itself"
                            .formatted(ENDLESS.contains(name) ? name : FOLLOW));
        }
    }

    /** The settings of each cell, by its name. */
    private Map<String, Path> files() {
        Map<String, Path> files = new TreeMap<>();
        try (Stream<Path> all = Files.list(Objects.requireNonNull(directory))) {
            all.forEach(file -> {
                String name = file.getFileName().toString();
                if (name.endsWith(FILE_NAME)) {
                    files.put(name.substring(0, name.length() - FILE_NAME.length()), file);
                }
            });
        } catch (IOException e) {
            throw new CommandFailed(
                    "the directory '%s' can't be read (%s)".formatted(directory, e));
        }
        if (files.isEmpty()) {
            throw new CommandFailed(
                    "the directory '%s' has no settings file NAME.yaml; write one for each cell"
                            .formatted(directory));
        }
        return files;
    }

    private int run(String cell, Path file) {
        results.printf("== cell %s%n", cell);
        Map<String, String> settings = new HashMap<>(environment);
        settings.put("MINTMARK_CONFIG", file.toAbsolutePath().toString());
        return runner.run(
                settings,
                command.stream()
                        .map(argument -> argument.replace(PLACEHOLDER, cell))
                        .toArray(String[]::new));
    }
}
