package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.ReservedPorts;
import io.mintmark.Unchecked;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.tree.TreeHash;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The reference witness in Go, as {@code .ci/witnesses} builds it. It writes a head before it asks
 * its ssh-agent for the signature.
 */
public final class Litewitness implements KillableWitness {
    private static final Path PROGRAM = Path.of("target", "witnesses", "litewitness");
    private static final String NAME = "lite.example/1";

    /** Its tables, as {@code witnessctl} makes and fills them. */
    private static final String FOLLOW =
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.executescript('''
                CREATE TABLE log (
                    origin TEXT PRIMARY KEY,
                    tree_size INTEGER NOT NULL,
                    tree_hash TEXT NOT NULL);
                CREATE TABLE key (
                    origin TEXT NOT NULL,
                    key TEXT NOT NULL,
                    FOREIGN KEY(origin) REFERENCES log(origin));''')
            for key in sys.argv[3:]:
                origin = key.split('+')[0]
                database.execute('INSERT INTO log VALUES (?, 0, ?)', (origin, sys.argv[2]))
                database.execute('INSERT INTO key VALUES (?, ?)', (origin, key))
            database.commit()
            """;

    private final Path directory;
    private final SshAgentStandIn agent;
    private final NoteKey key;
    private final int port = ReservedPorts.next();
    private @Nullable Process process;

    /** Makes its database, which follows these logs. */
    public Litewitness(Path directory, NoteKey... logs) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.agent = new SshAgentStandIn(directory.resolve("agent"));
        this.key =
                new NoteKey(
                        NAME,
                        NoteKey.Type.COSIGNATURE,
                        HexFormat.of().formatHex(agent.published()));
        follow(logs);
    }

    private void follow(NoteKey... logs) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "python3",
                                "-c",
                                FOLLOW,
                                directory.resolve("db").toString(),
                                Base64Text.of(new TreeHash().root())));
        for (NoteKey log : logs) {
            command.add(log.text());
        }
        Process made = new ProcessBuilder(command).inheritIO().start();
        int status = Unchecked.call(made::waitFor);
        assertEquals(0, status);
    }

    @Override
    public NoteKey key() {
        return key;
    }

    @Override
    public String url() {
        return "http://127.0.0.1:" + port;
    }

    @Override
    public void start() throws IOException {
        agent.goOn();
        Path output = directory.resolve("log");
        Files.deleteIfExists(output);
        byte[] named =
                Unchecked.call(
                        () -> MessageDigest.getInstance("SHA-256").digest(agent.published()));
        process =
                new ProcessBuilder(
                                PROGRAM.toAbsolutePath().toString(),
                                "-name=" + NAME,
                                "-db=" + directory.resolve("db"),
                                "-ssh-agent=" + directory.resolve("agent"),
                                "-key=" + HexFormat.of().formatHex(named),
                                "-listen=127.0.0.1:" + port)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        Listening.await(port, process);
    }

    @Override
    public void kill() {
        Listening.kill(process);
    }

    @Override
    public void stall() {
        agent.stall();
    }

    @Override
    public boolean isStalled() {
        return agent.isStalled();
    }

    @Override
    public void close() throws IOException {
        kill();
        agent.close();
    }
}
