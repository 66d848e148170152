package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.RunningBroker;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs {@code mintmark audit …} on a test's database, in this process or in one of its own. */
public final class AuditCommand {
    private static final Pattern ANSWERED = Pattern.compile("--answered ([0-9a-f]{12}) ");

    private final Map<String, String> environment;
    private final Path directory;

    /** What became of it. */
    public record Ran(int status, String output, String errors) {}

    public AuditCommand(TestDatabase database, Path directory, Who who) throws Exception {
        this.directory = directory;
        this.environment = new HashMap<>(RunningBroker.environment(database, 1));
        environment.put("DATABASE_USERNAME", who.login());
        environment.put("AUDIT_SIGNING_KEY_FILE", signingKey(directory).toString());
    }

    /** The usual key, as the broker reads it. */
    public static Path signingKey(Path directory) throws Exception {
        return Files.writeString(
                directory.resolve("audit.pem"),
                "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
                        .formatted(
                                Base64.getMimeEncoder()
                                        .encodeToString(Seals.KEY.toECPrivateKey().getEncoded())));
    }

    public Ran run(String... arguments) {
        PrintStream outBefore = System.out;
        PrintStream errorsBefore = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        try {
            int status = new Commands(environment, directory).execute(audit(arguments));
            return new Ran(
                    status,
                    out.toString(StandardCharsets.UTF_8),
                    errors.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errorsBefore);
        }
    }

    private static String[] audit(String... arguments) {
        List<String> all = new ArrayList<>(List.of("audit"));
        all.addAll(List.of(arguments));
        return all.toArray(String[]::new);
    }

    /**
     * Starts it in a process of its own.
     *
     * @param limits what the shell does first, such as {@code ulimit -f 64}
     */
    public Process start(String limits, String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "bash",
                                "-c",
                                limits + "; exec \"$@\"",
                                "audit",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "io.mintmark.Main"));
        command.addAll(List.of(audit(arguments)));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(new File(directory.toFile(), "process.log"));
        builder.environment().putAll(environment);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return builder.start();
    }

    /** The code in what {@code audit restored} prints. */
    public static String answered(String output) {
        Matcher code = ANSWERED.matcher(output);
        assertTrue(code.find(), output);
        return code.group(1);
    }
}
