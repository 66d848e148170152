package io.mintmark.clients;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** The shells that the client must run under. */
enum Shell {
    DASH("dash"),
    BASH("bash --posix"),
    BUSYBOX("busybox ash"),
    ZSH("zsh -f");

    /** Where programs are found here. */
    static final String SEARCH_PATH =
            Objects.requireNonNullElse(System.getenv("PATH"), "/usr/bin:/bin");

    private final String command;

    Shell(String command) {
        this.command = command;
    }

    List<String> command() {
        return List.of(command.split(" "));
    }

    /** Those that are here, where the client's other tools are as well. */
    static Stream<Shell> installed() {
        boolean tools = Stream.of("curl", "jq", "sh").allMatch(tool -> find(tool).isPresent());
        return tools
                ? Stream.of(values()).filter(shell -> find(shell.command().getFirst()).isPresent())
                : Stream.empty();
    }

    /**
     * Those that a test runs under: as many as {@code -Dshells} says, else all. A plain {@code mvn
     * verify} takes the first, which has the least of what POSIX doesn't ask for.
     */
    static Stream<Shell> tested() {
        return installed().limit(Integer.getInteger("shells", values().length));
    }

    /** A program of the search path. */
    static Optional<Path> find(String program) {
        return Stream.of(Shell.SEARCH_PATH.split(File.pathSeparator))
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
