package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.cli.Commands;
import io.mintmark.postgres.TestDatabase;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class SealingTest {
    @TempDir private Path directory;

    private String key(String name) throws Exception {
        Path file = directory.resolve(name);
        PemFiles.p256(file);
        return Files.readString(file);
    }

    /** The public half, as an auditor would be given it. */
    private Path published(String name) throws Exception {
        Path file = directory.resolve(name + ".pub");
        Process openssl =
                new ProcessBuilder(
                                "openssl",
                                "pkey",
                                "-in",
                                directory.resolve(name).toString(),
                                "-pubout",
                                "-out",
                                file.toString())
                        .start();
        assertEquals(0, openssl.waitFor());
        return file;
    }

    private int verify(TestDatabase database, Path keys) {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, 1));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        return new Commands(environment, directory)
                .execute("audit", "verify", "--keys", keys.toString());
    }

    private static int checkpoints(TestDatabase database) {
        return database.column("SELECT number FROM audit.checkpoint").size();
    }

    private void runWith(TestDatabase database, String keys) throws Exception {
        Path file = directory.resolve("audit.pem");
        Files.writeString(file, keys);
        int before = checkpoints(database);
        try (RunningBroker broker =
                RunningBroker.on(database, Map.of("AUDIT_SIGNING_KEY_FILE", file.toString()))) {
            Eventually.holds(() -> checkpoints(database) == before + 1);
            assertTrue(broker.adminPort() > 0);
        }
        assertEquals(before + 2, checkpoints(database));
    }

    @Test
    void a_broker_seals_at_start_and_at_stop_and_a_new_key_is_announced_by_the_old_one()
            throws Exception {
        String old = key("old");
        String next = key("next");
        key("foreign");
        try (TestDatabase database = TestDatabase.migrated()) {
            runWith(database, old);
            runWith(database, old + next);
            runWith(database, next);
            assertEquals(
                    List.of("3"),
                    database.column(
                            "SELECT number FROM audit.checkpoint WHERE announced_by IS NOT NULL"));
            assertEquals(0, verify(database, published("old")));
            assertEquals(1, verify(database, published("next")));
            assertEquals(1, verify(database, published("foreign")));
        }
    }
}
