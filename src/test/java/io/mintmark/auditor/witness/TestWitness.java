package io.mintmark.auditor.witness;

import io.mintmark.Unchecked;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.reader.LogConsistency;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** A witness of the log of a test's database, which cosigns at the times that a test chooses. */
public final class TestWitness implements AutoCloseable {
    private final Path state;
    private final String name;
    private final Map<String, Long> sizes = new HashMap<>();
    private Witness witness;
    private Instant now = Instant.now();

    public TestWitness(Path directory, String name) throws IOException {
        this.state = directory.resolve(name);
        this.name = name;
        this.witness = opened(1);
    }

    private Witness opened(long tree) throws IOException {
        WitnessPolicy policy = WitnessPolicy.of(log(tree) + "quorum none\n");
        return new Witness(policy, state, name + ".example", () -> now);
    }

    private static String log(long tree) {
        return "log %s\n".formatted(Seals.NOTES.key(tree).text());
    }

    /** The line of a policy that names the log of {@link Seals#noted}. */
    public static String log() {
        return log(1);
    }

    /** Restarts it with a policy that has another tree of the log. */
    public void follow(long tree) throws IOException {
        witness.close();
        witness = opened(tree);
    }

    public String name() {
        return name;
    }

    /** The line of a policy that names it. */
    public String line() {
        return "witness %s %s\n".formatted(name, witness.key().text());
    }

    /** Asks for a cosignature of the newest note, which is stored if there is one. */
    public int ask(TestDatabase database) {
        return ask(database, Instant.now());
    }

    /**
     * Asks for a cosignature of this time.
     *
     * @return the status of the answer
     */
    public int ask(TestDatabase database, Instant at) {
        now = at;
        try (LogConsistency log = new LogConsistency(database.login(Who.AUDITOR))) {
            long size = log.size();
            String note = log.note(size).orElseThrow();
            TreeHead head = TreeHead.parse(SignedNote.parse(note).text());
            long old = Math.min(size, sizes.getOrDefault(head.origin(), 0L));
            String proof =
                    log.proof(old, size).stream()
                            .map(hash -> hash + "\n")
                            .collect(Collectors.joining());
            Witness.Answer answer =
                    Unchecked.call(() ->
                            witness.addCheckpoint("old %d\n%s\n%s".formatted(old, proof, note)));
            if (answer.status() == 200) {
                sizes.put(head.origin(), size);
                store(database, head, answer.body().strip());
            }
            return answer.status();
        }
    }

    private static void store(TestDatabase database, TreeHead head, String line) {
        database.runAsSuperuser(
                "INSERT INTO log.cosignature (tree, size, witness, line) VALUES (%d, %d, '%s', '%s')"
                        .formatted(head.tree(), head.size(), line.split(" ", 3)[1], line));
    }

    @Override
    public void close() throws IOException {
        witness.close();
    }
}
