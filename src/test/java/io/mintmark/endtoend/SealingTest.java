package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.check.Checkup;
import io.mintmark.admin.cli.Commands;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.start.StartFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

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
    void a_key_that_did_not_seal_the_log_ends_the_start_unless_the_former_one_is_lost()
            throws Exception {
        String old = key("old");
        String next = key("next");
        try (TestDatabase database = TestDatabase.migrated()) {
            runWith(database, old);
            Path file = Files.writeString(directory.resolve("audit.pem"), next);
            Map<String, String> settings = Map.of("AUDIT_SIGNING_KEY_FILE", file.toString());

            StartFailed failed =
                    assertThrows(
                            StartFailed.class, () -> RunningBroker.on(database, settings).close());
            assertTrue(
                    failed.toString().contains("which sealed the last checkpoint"),
                    failed::toString);
            assertTrue(
                    check(database, settings).contains("which sealed the last checkpoint"),
                    "check says so too");

            Map<String, String> lost = new HashMap<>(settings);
            lost.put("AUDIT_KEY_REPLACED", "true");
            assertEquals("", check(database, lost));
            RunningBroker.on(database, lost).close();
            RunningBroker.on(database, settings).close();
        }
    }

    @Test
    void a_replica_with_a_key_that_another_replaced_as_lost_neither_seals_nor_starts_again()
            throws Exception {
        String old = key("old");
        String next = key("next");
        Path first = Files.writeString(directory.resolve("first.pem"), old);
        Path second = Files.writeString(directory.resolve("second.pem"), next);
        Map<String, String> lost = Map.of("AUDIT_SIGNING_KEY_FILE", first.toString());
        Map<String, String> found = Map.of("AUDIT_SIGNING_KEY_FILE", second.toString());
        Map<String, String> replacing = new HashMap<>(found);
        replacing.put("AUDIT_KEY_REPLACED", "true");
        try (TestDatabase database = TestDatabase.migrated()) {
            try (RunningBroker behind = RunningBroker.on(database, lost)) {
                Eventually.holds(() -> checkpoints(database) == 1);
                assertTrue(behind.adminPort() > 0);
                RunningBroker.on(database, replacing).close();
                assertEquals(3, checkpoints(database), "at its start and its stop");
            }
            assertEquals(3, checkpoints(database), "the lost key seals no more");

            Map<String, String> mistaken = new HashMap<>(lost);
            mistaken.put("AUDIT_KEY_REPLACED", "true");
            StartFailed failed =
                    assertThrows(
                            StartFailed.class, () -> RunningBroker.on(database, mistaken).close());
            assertTrue(failed.toString().contains("must not sign any more"), failed::toString);
            assertTrue(
                    check(database, mistaken).contains("must not sign any more"),
                    "check says so too");

            RunningBroker.on(database, found).close();
            assertEquals(5, checkpoints(database), "the new key goes on");
        }
    }

    @Test
    void a_key_of_the_identity_does_not_seal() throws Exception {
        Path signing = Files.createDirectory(directory.resolve("signing"));
        Path key = signing.resolve("2026-01-01.pem");
        PemFiles.p256(key);
        Path both = directory.resolve("audit.pem");
        Files.writeString(both, key("another") + Files.readString(key));
        Map<String, String> settings =
                Map.of(
                        "AUDIT_SIGNING_KEY_FILE", both.toString(),
                        "BROKER_SIGNING_KEYS_DIR", signing.toString());
        try (TestDatabase database = TestDatabase.migrated()) {
            StartFailed failed =
                    assertThrows(
                            StartFailed.class, () -> RunningBroker.on(database, settings).close());

            assertTrue(
                    failed.toString().contains("holds a signing key of the broker's identity"),
                    failed::toString);
            assertFalse(
                    failed.toString().contains("-out " + both),
                    "a command that would overwrite the keys");
            assertTrue(
                    check(database, settings)
                            .contains("holds a signing key of the broker's identity"),
                    "check says so too");
        }
    }

    /** All faults that a check finds. */
    private String check(TestDatabase database, Map<String, String> settings) {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, 1));
        environment.putAll(settings);
        return new Checkup(new SettingsReader(environment, directory), InstantSource.system())
                .run().stream()
                        .flatMap(finding -> finding.faults().stream())
                        .collect(Collectors.joining("\n"));
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
            database.assertRows(
                    "SELECT number FROM audit.checkpoint WHERE announced_by IS NOT NULL", "3");
            assertEquals(0, verify(database, published("old")));
            assertEquals(1, verify(database, published("next")));
            assertEquals(1, verify(database, published("foreign")));
        }
    }
}
