package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Credentials as files: {@code agent --write}. */
class WriterTest {
    private static final String LOGIN =
            "{\"PGUSER\": \"mm_1\", \"PGPASSWORD\": \"a:b\\\\c'd\", \"PGHOST\": \"db\", \"PGPORT\": \"5432\","
                    + " \"PGDATABASE\": \"orders\", \"PGSSLMODE\": \"verify-full\"}";

    @TempDir Path directory;
    private final StandIn broker = new StandIn();
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void start() {
        Assumptions.assumeTrue(
                Shell.installed().findAny().isPresent() && Shell.find("python3").isPresent(),
                "no python3, curl or jq");
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Process process : started) {
            process.destroy();
            process.waitFor();
        }
        broker.close();
    }

    private ClientProcess client() {
        return ClientProcess.under(Shell.installed().findFirst().orElseThrow())
                .with("MINTMARK_URL", broker.url())
                .with("MINTMARK_TOKEN", "an.identity.token")
                .with("HOME", directory.toString());
    }

    /** Programs that renew after a second at the earliest, not half a minute. */
    private ClientProcess impatient() throws IOException {
        Path copy = Files.createDirectories(directory.resolve("clients"));
        for (String name : List.of("mintmark-client", "mintmark-writer")) {
            Files.copy(ClientProcess.FILE.resolveSibling(name), copy.resolve(name));
        }
        Path writer = copy.resolve("mintmark-writer");
        String text = Files.readString(writer);
        String floor = "\nSECONDS_AT_LEAST = 30\n";
        assertTrue(text.contains(floor));
        Files.writeString(writer, text.replace(floor, "\nSECONDS_AT_LEAST = 1\n"));
        return client().at(copy.resolve("mintmark-client"));
    }

    private void mints(String members, int seconds) {
        broker.says(
                "/credentials/mint",
                200,
                "{\"credentials\": {\"a\": %s}, \"expiresAt\": \"%s\", \"subject\": \"s\", \"issuedAt\": \"%s\"}"
                        .formatted(members, Instant.now().plusSeconds(seconds), Instant.now()));
    }

    /** As a broker says it whose clock is this many minutes behind that of this machine. */
    private void mintsBehind(int minutes, int seconds) {
        Instant issued = Instant.now().minusSeconds(minutes * 60L);
        broker.says(
                "/credentials/mint",
                200,
                "{\"credentials\": {\"a\": {\"ACCESS_TOKEN\": \"x\"}}, \"expiresAt\": \"%s\", \"issuedAt\": \"%s\"}"
                        .formatted(issued.plusSeconds(seconds), issued));
    }

    private Path written() {
        return directory.resolve("out");
    }

    private String file(String name) {
        return Unchecked.call(() -> Files.readString(written().resolve("a").resolve(name)));
    }

    private Ended once(String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("agent", "--write", written().toString(), "--once", "a"));
        arguments.addAll(List.of(more));
        return client().run(arguments.toArray(String[]::new));
    }

    @Test
    void a_login_is_written_as_programs_read_it_and_nobody_else_can() throws IOException {
        mints(LOGIN, 3600);
        Ended ended = once();
        assertEquals("", ended.messages().replaceFirst("0\n", ""));
        assertEquals("db:5432:orders:mm_1:a\\:b\\\\c'd\n", file("pgpass"));
        assertTrue(file("env").contains("PGPASSWORD='a:b\\c'\\''d'\n"), file("env"));
        assertEquals("mm_1", file("PGUSER"));
        try (Stream<Path> files = Files.walk(written())) {
            files.filter(file -> !file.equals(written()) && !Files.isSymbolicLink(file))
                    .forEach(WriterTest::assertPrivate);
        }
    }

    /** libpq reads the file for each connection; its values have no quotes. */
    @Test
    void a_login_is_a_service_of_libpq_unless_a_value_cannot_be_written() throws IOException {
        mints(LOGIN, 3600);
        once();
        assertTrue(
                file("pg_service.conf").startsWith("[a]\nhost=db\nport=5432\ndbname=orders\n"),
                file("pg_service.conf"));
        assertTrue(file("pg_service.conf").contains("\npassword=a:b\\c'd\n"));
        mints(LOGIN.replace("\"mm_1\"", "\"mm_1 \""), 3600);
        once();
        once();
        assertEquals("mm_1 ", file("PGUSER"));
        assertFalse(Files.exists(written().resolve("a/pg_service.conf")));
    }

    @Test
    void a_directory_of_another_user_is_refused() throws IOException {
        Assumptions.assumeTrue(System.getProperty("user.name").equals("root"), "not root");
        mints(LOGIN, 3600);
        Files.createDirectory(written());
        Files.setAttribute(written(), "unix:uid", 65534);
        Ended ended = once();
        assertEquals(2, ended.exit());
        assertTrue(ended.err().contains("belongs to another user"), ended.err());
        try (Stream<Path> files = Files.list(written())) {
            assertEquals(0, files.count());
        }
    }

    private static void assertPrivate(Path file) {
        assertEquals(
                Files.isDirectory(file) ? "rwx------" : "rw-------",
                PosixFilePermissions.toString(
                        Unchecked.call(() -> Files.getPosixFilePermissions(file))),
                file::toString);
    }

    @Test
    void certificates_and_configurations_have_their_usual_names() {
        mints(
                "{\"TLS_PRIVATE_KEY\": \"k\", \"TLS_CERTIFICATE\": \"c\", \"KUBE_TOKEN\": \"t\","
                        + " \"KUBE_SERVER\": \"https://k\", \"KUBE_NAMESPACE\": \"shop\"}",
                3600);
        assertEquals(0, once().exit());
        assertEquals("k\n", file("tls.key"));
        assertEquals("c\n", file("tls.crt"));
        assertTrue(file("kubeconfig").contains("\"server\": \"https://k\""), file("kubeconfig"));
        assertTrue(file("kubeconfig").contains("\"namespace\": \"shop\""), file("kubeconfig"));
    }

    @Test
    void credentials_are_renewed_before_their_end_and_a_command_runs_after_each_change()
            throws IOException {
        mints("{\"ACCESS_TOKEN\": \"first\"}", 3);
        Path changes = directory.resolve("changes");
        started.add(
                impatient()
                        .start(
                                "agent",
                                "--write",
                                written().toString(),
                                "--on-change",
                                "cat '%s'/$MINTMARK_KEY/ACCESS_TOKEN >>'%s'"
                                        .formatted(written(), changes),
                                "a"));
        Eventually.holds(() -> Files.exists(written().resolve("a/env")));
        Path before = written().resolve("a").toRealPath();
        mints("{\"ACCESS_TOKEN\": \"second\"}", 3600);
        Eventually.holds(() -> file("ACCESS_TOKEN").equals("second"));
        Eventually.holds(
                () -> Unchecked.call(() -> Files.readString(changes)).matches("(first)+second"));
        assertNotEquals(before, written().resolve("a").toRealPath());
        assertFalse(Files.exists(before), "the earlier credential stays on the disk");
    }

    @Test
    void a_failure_keeps_the_files_and_is_tried_again() throws IOException {
        mints("{\"ACCESS_TOKEN\": \"first\"}", 3);
        broker.says("/credentials/mint", 503, "{\"error\": \"X\", \"message\": \"No.\"}");
        Process process = impatient().start("agent", "--write", written().toString(), "a");
        started.add(process);
        String line = process.errorReader().readLine();
        assertTrue(line.startsWith("mintmark-writer: a: mintmark-client: No. (X"), line);
        assertEquals("first", file("ACCESS_TOKEN"));
        mints("{\"ACCESS_TOKEN\": \"third\"}", 3600);
        Eventually.holds(() -> file("ACCESS_TOKEN").equals("third"));
    }

    @Test
    void a_clock_that_is_ahead_neither_floods_the_broker_nor_goes_unnoticed() throws IOException {
        mintsBehind(70, 8);
        Process process = impatient().start("agent", "--write", written().toString(), "a");
        started.add(process);
        String line = process.errorReader().readLine();
        assertTrue(line.contains("the clock of this machine is 42"), line);
        assertTrue(line.contains("s ahead of the broker's; correct the clock"), line);
        Eventually.holds(() -> broker.asked().size() == 2);
        long between = Duration.between(asked(0), asked(1)).toMillis();
        assertTrue(between >= 4_500, () -> "renewed after %d ms of 8 s".formatted(between));
        assertFalse(process.errorReader().ready(), "the clock is reported once");
    }

    @Test
    void credentials_that_are_over_when_they_come_are_minted_ever_less_often() throws IOException {
        mintsBehind(0, -5);
        started.add(impatient().start("agent", "--write", written().toString(), "a"));
        Eventually.holds(() -> broker.asked().size() == 3);
        for (int i = 0; i < 2; i++) {
            long between = Duration.between(asked(i), asked(i + 1)).toMillis();
            assertTrue(
                    between >= 900 + i * 1000, () -> "minted again after %d ms".formatted(between));
        }
    }

    private Instant asked(int number) {
        return broker.asked().get(number).at();
    }

    @Test
    void what_it_did_not_write_stays() throws IOException {
        mints("{\"ACCESS_TOKEN\": \"first\"}", 3600);
        Files.createDirectories(written().resolve("a"));
        Ended ended = once();
        assertEquals(2, ended.exit());
        assertTrue(ended.err().contains("was not written by this program"), ended.err());
        assertEquals(List.of(), broker.asked());
    }

    @Test
    void members_of_other_names_need_a_permission_here_too() {
        mints("{\"ORDERS_TOKEN\": \"x\"}", 3600);
        Ended ended = once();
        assertEquals(1, ended.exit());
        assertTrue(ended.err().contains("add: --member ORDERS_TOKEN"), ended.err());
        assertEquals(0, once("--member", "ORDERS_TOKEN").exit());
        assertEquals("x", file("ORDERS_TOKEN"));
        assertEquals(2, client().run("agent", "--on-change", "x").exit());
    }
}
