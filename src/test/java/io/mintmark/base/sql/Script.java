package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** docs/verify.py, with the usual key. */
public final class Script {
    /** To ask costs a tenth of a second, so each program is asked for once. */
    private static final Map<String, Boolean> THERE = new ConcurrentHashMap<>();

    /**
     * The programs themselves before what finds them: {@code psql} of Debian is a script of Perl,
     * {@code python3} of pyenv one of the shell, and both run for longer than what they start.
     */
    private static final class Programs {
        static final String PATH =
                String.join(
                        ":",
                        Stream.of(python(), psql(), Stream.of(System.getenv("PATH")))
                                .flatMap(it -> it)
                                .toList());

        private static Stream<String> python() {
            String program = "import os, sys; print(os.path.dirname(sys.executable))";
            return Unchecked.call(() ->
                            new String(
                                    new ProcessBuilder("python3", "-c", program)
                                            .start()
                                            .getInputStream()
                                            .readAllBytes(),
                                    StandardCharsets.UTF_8))
                    .lines();
        }

        private static Stream<String> psql() {
            return IntStream.rangeClosed(15, 30)
                    .map(newest -> 45 - newest)
                    .mapToObj("/usr/lib/postgresql/%d/bin"::formatted)
                    .filter(bin -> Files.isExecutable(Path.of(bin, "psql")))
                    .limit(1);
        }
    }

    private final Path keys;
    private final Map<String, String> environment;
    private String output = "";

    /**
     * @param database which; null: none is to be asked
     */
    public Script(Path directory, @Nullable TestDatabase database) throws Exception {
        assumeItRuns();
        String key = Base64.getEncoder().encodeToString(Seals.KEY.toPublicKey().getEncoded());
        keys =
                Files.writeString(
                        directory.resolve("keys.pem"),
                        "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                                .formatted(key));
        environment = database == null ? Map.of() : environment(database);
    }

    public static void assumeItRuns() {
        assumeTrue(Stream.of("python3", "psql", "openssl").allMatch(Script::isThere));
    }

    public static boolean isThere(String program) {
        return THERE.computeIfAbsent(program, Script::starts);
    }

    private static boolean starts(String program) {
        try {
            return new ProcessBuilder(program, program.equals("openssl") ? "version" : "--version")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static Map<String, String> environment(TestDatabase database) {
        TestServer.Address server = TestServer.address();
        return Map.of(
                "PGHOST", server.host(),
                "PGPORT", Integer.toString(server.port()),
                "PGDATABASE", database.name(),
                "PGUSER", Who.AUDITOR.login(),
                "PGPASSWORD", database.password(),
                "PGCLIENTENCODING", "LATIN1");
    }

    public int status(List<String> arguments) throws Exception {
        return status(keys, arguments);
    }

    /** With other keys. */
    public int status(Path trusted, List<String> arguments) throws Exception {
        // as a module, whose compiled form is kept: to compile it takes longer than most of its
        // runs
        List<String> command =
                new ArrayList<>(List.of("python3", "-m", "verify", trusted.toString()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", "docs");
        builder.environment().put("PYTHONPYCACHEPREFIX", "target/python");
        builder.environment().remove("PYTHONDONTWRITEBYTECODE");
        builder.environment().put("PATH", Programs.PATH);
        builder.environment().putAll(environment);
        Process process = builder.start();
        output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor();
    }

    /** What it said last. */
    public String output() {
        return output;
    }
}
