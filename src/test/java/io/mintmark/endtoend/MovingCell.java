package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A database, a broker on it, and the commands of its operator, between which tenants move. */
record MovingCell(
        TestDatabase database, RunningBroker broker, Map<String, String> settings, Path directory) {

    /** What a command printed, on both outputs. */
    record Ran(int status, String output) {}

    /** The cell of a world's tenant. */
    static MovingCell of(World world, Path directory) {
        return of(world.database(), world.broker(), Map.of(), directory);
    }

    /** A cell without tenants, and with an audit key of its own. */
    static MovingCell make(Path directory) {
        TestDatabase database = TestDatabase.migrated();
        Path key = directory.resolve(database.name() + ".pem");
        PemFiles.p256(key);
        Map<String, String> own = Map.of("AUDIT_SIGNING_KEY_FILE", key.toString());
        return of(database, RunningBroker.on(database, own), own, directory);
    }

    private static MovingCell of(
            TestDatabase database, RunningBroker broker, Map<String, String> own, Path directory) {
        Map<String, String> settings =
                new HashMap<>(RunningBroker.environment(database, broker.url().getPort()));
        settings.putAll(own);
        return new MovingCell(database, broker, settings, directory);
    }

    Ran run(Who who, String... command) {
        Map<String, String> environment = new HashMap<>(settings);
        environment.put("DATABASE_USERNAME", who.login());
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        try (PrintStream both = new PrintStream(said, true, StandardCharsets.UTF_8)) {
            System.setOut(both);
            System.setErr(both);
            int status = new Commands(environment, directory).execute(command);
            return new Ran(status, said.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    /** Exports the tenant {@code acme}. */
    Ran export(Path file, MovingCell to) {
        String target = to.broker().url().toString();
        return run(
                Who.ADMIN, "tenant", "export", "acme", "--output", file.toString(), "--to", target);
    }

    /** Imports a file, and trusts the other cell's key. */
    Ran takeIn(Path file, MovingCell from, String... further) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("tenant", "import", file.toString(), "--keys", from.key()));
        command.addAll(Arrays.asList(further));
        return run(Who.ADMIN, command.toArray(String[]::new));
    }

    private String key() throws Exception {
        return publicKey().toString();
    }

    /** A file with the public key that seals its log. */
    Path publicKey() throws Exception {
        byte[] key =
                AuditKey.read(
                                new SettingsReader(settings, directory).audit(),
                                new HeldKeys(Optional.empty()))
                        .published()
                        .getLast()
                        .toPublicKey()
                        .getEncoded();
        return Files.writeString(
                directory.resolve(database.name() + ".pub"),
                "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                        .formatted(Base64.getEncoder().encodeToString(key)));
    }

    /** Verifies its log with both verifiers, and returns what the first printed. */
    String assertVerifies(MovingCell other) throws Exception {
        Ran verified = run(Who.AUDITOR, "audit", "verify", "--cell-keys", other.key());
        assertEquals(0, verified.status(), verified.output());
        if (List.of("python3", "psql", "openssl").stream().allMatch(Script::isThere)) {
            Script script = new Script(directory, database);
            int status = script.status(publicKey(), List.of("--cell-keys", other.key()));
            assertEquals(0, status, script.output());
            assertEquals(moves(verified.output()), moves(script.output()));
        }
        return verified.output();
    }

    /** What a verifier says about moves. The two begin their sentences differently. */
    private static List<String> moves(String verified) {
        return verified.lines()
                .filter(line -> line.contains(", which moved to ") || line.contains(", which came"))
                .map(line -> line.replace("note: Change ", "note: change "))
                .toList();
    }
}
