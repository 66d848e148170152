package io.mintmark.clients;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The cache of 'aws-process' and of tokens for kubectl, and who never gets what is in it. */
@Tag("heavy")
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientCacheTest {
    private static final Map<String, String> CLAIMS =
            Map.of("iss", "https://issuer.example.com", "sub", "ci:main", "aud", "mintmark-acme");

    @TempDir Path directory;
    @AutoClose private final StandIn broker = new StandIn();
    private final Shell shell;
    private final ClientProcess client;

    ClientCacheTest(Shell shell) {
        this.shell = shell;
        this.client = ClientProcess.under(shell);
    }

    @BeforeEach
    void configure() {
        client.with("MINTMARK_URL", broker.url())
                .with("MINTMARK_TOKEN", ClientProcess.token(CLAIMS))
                .with("XDG_CACHE_HOME", directory.toString())
                .with("HOME", directory.resolve("home").toString());
    }

    private Path cache() {
        return directory.resolve("mintmark");
    }

    private List<Path> cached() throws IOException {
        try (Stream<Path> files = Files.list(cache())) {
            return files.toList();
        }
    }

    private static Instant in(int seconds) {
        return Instant.now().plusSeconds(seconds).truncatedTo(ChronoUnit.SECONDS);
    }

    /** Credentials, one for each mint: A1, A2 … */
    private void issues(int mints, Instant end) {
        for (int i = 1; i <= mints; i++) {
            broker.says(
                    "/sdk/aws/a",
                    200,
                    """
                    {"AccessKeyId": "A%d", "SecretAccessKey": "s", "Token": "t", "Expiration": "%s"}
                    """
                            .formatted(i, end));
        }
    }

    private String accessKey(String... arguments) {
        Ended ended = client.run(arguments);
        assertEquals(0, ended.exit(), ended.err());
        return ended.out().replaceAll("(?s).*\"AccessKeyId\":\"(\\w+)\".*", "$1");
    }

    @Test
    void several_calls_are_one_mint() {
        issues(2, in(3600));
        for (int i = 0; i < 3; i++) {
            assertEquals("A1", accessKey("aws-process", "a"));
        }
        assertEquals(1, broker.asked().size());
        assertEquals("A2", accessKey("aws-process", "--no-cache", "a"));
        assertEquals("A1", accessKey("aws-process", "a"));
    }

    @Test
    void only_the_user_can_read_it() throws IOException {
        Files.createDirectory(cache());
        Files.setPosixFilePermissions(cache(), PosixFilePermissions.fromString("rwxr-xr-x"));
        issues(1, in(3600));
        accessKey("aws-process", "a");
        assertEquals("rwx------", rights(cache()));
        assertEquals(List.of("rw-------"), cached().stream().map(ClientCacheTest::rights).toList());
    }

    private static String rights(Path file) {
        return Unchecked.call(
                () -> PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void another_identity_audience_claim_broker_or_key_never_gets_it() {
        issues(1, in(3600));
        accessKey("aws-process", "a");
        for (Map<String, String> other :
                List.of(
                        Map.of("sub", "ci:other"),
                        Map.of("iss", "https://other.example.com"),
                        Map.of("aud", "mintmark-other"),
                        Map.of("environment", "production"))) {
            Map<String, String> claims = new HashMap<>(CLAIMS);
            claims.putAll(other);
            issues(1, in(3600));
            int before = broker.asked().size();
            client.with("MINTMARK_TOKEN", ClientProcess.token(claims)).run("aws-process", "a");
            assertEquals(before + 1, broker.asked().size(), other.toString());
        }
        configure();
        int before = broker.asked().size();
        client.with("MINTMARK_URL", broker.url() + "/other").run("aws-process", "a");
        client.with("MINTMARK_URL", broker.url()).run("aws-process", "b");
        assertEquals(before + 2, broker.asked().size());
    }

    @Test
    void a_renewed_token_of_the_same_identity_gets_it() {
        issues(2, in(3600));
        for (int i = 0; i < 2; i++) {
            Map<String, Object> claims = new HashMap<>(CLAIMS);
            claims.putAll(Map.of("exp", 2000000000 + i, "iat", i, "nbf", i, "jti", "id" + i));
            client.with("MINTMARK_TOKEN", ClientProcess.token(claims));
            assertEquals("A1", accessKey("aws-process", "a"));
        }
    }

    @Test
    void it_ends_five_minutes_before_the_credential() {
        issues(1, in(299));
        issues(2, in(400));
        assertEquals("A1", accessKey("aws-process", "a"));
        assertEquals("A1", accessKey("aws-process", "a"));
        assertEquals("A1", accessKey("aws-process", "a"));
        assertEquals(2, broker.asked().size());
    }

    @Test
    void a_token_for_kubectl_is_cached_by_its_member() {
        for (String token : List.of("first", "second", "third")) {
            broker.says(
                    "/credentials/mint",
                    200,
                    """
                    {"credentials": {"a": {"ACCESS_TOKEN": "%1$s", "OWN": "own-%1$s", "PATH": "x"}}, "expiresAt": "%2$s"}
                    """
                            .formatted(token, in(3600)));
        }
        String[] kubectl = {"get", "a", "--format", "exec-credential"};
        assertShows(client.run(kubectl).out(), "\"token\":\"first\"}", "\"token\":\"first\"}");
        String[] own = {"get", "a", "--format=exec-credential", "--member=OWN"};
        assertShows(
                client.run(own).out(), "\"token\":\"own-second\"}", "\"token\":\"own-second\"}");
        assertShows(client.run("get", "a", "--format=env", "--member=OWN").err(), "it sets PATH");
    }

    @Test
    void processes_that_start_together_share_one_mint() {
        issues(9, in(3600));
        List<Process> together =
                IntStream.range(0, 8).mapToObj(_ -> client.start("aws-process", "a")).toList();
        for (Process process : together) {
            Ended ended = ClientProcess.await(process);
            assertEquals(0, ended.exit(), ended.err());
            assertShows(ended.out(), "\"A1\"");
        }
        assertEquals(1, broker.asked().size());
    }

    /** The lock of the one credential that is cached, as another process would have it. */
    private Path lockOf(String holder) throws IOException {
        issues(1, in(3600));
        accessKey("aws-process", "a");
        Path file = cached().getFirst();
        Files.delete(file);
        return Files.writeString(Path.of(file + ".lock"), holder);
    }

    @Test
    void a_lock_of_a_process_that_is_gone_holds_nobody_up() throws Exception {
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        Path lock = lockOf(gone.pid() + "\n");
        Instant start = Instant.now();
        accessKey("aws-process", "--timeout=999", "a");
        assertTrue(Instant.now().isBefore(start.plus(Eventually.PATIENCE)));
        assertFalse(Files.exists(lock));
    }

    @Test
    void a_lock_that_is_never_released_costs_half_of_the_timeout() throws IOException {
        for (String holder : List.of(ProcessHandle.current().pid() + "\n", "")) {
            Path lock = lockOf(holder);
            accessKey("aws-process", "--timeout=10", "a");
            assertFalse(Files.exists(lock));
            client.run("logout");
        }
    }

    @Test
    void a_directory_of_others_is_not_used() throws IOException {
        issues(1, in(3600));
        Files.createDirectory(cache());
        for (String rights : List.of("rwxrwx---", "rwx----w-")) {
            Files.setPosixFilePermissions(cache(), PosixFilePermissions.fromString(rights));
            assertNotCached();
        }
        Files.delete(cache());
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(cache(), elsewhere);
        assertNotCached();
        Files.delete(cache());
        client.with("PATH", stranger() + ":" + Shell.SEARCH_PATH);
        assertNotCached();
    }

    private void assertNotCached() throws IOException {
        Ended ended = client.run("aws-process", "a");
        assertEquals(0, ended.exit());
        assertEquals(
                "mintmark-client: %s is not used as a cache, because other users own it, or can change it\n"
                        .formatted(cache()),
                ended.err());
        assertEquals(List.of(), cached());
    }

    /** A directory with an {@code id} that says that this user is another one. */
    private Path stranger() throws IOException {
        Path tools = Files.createDirectories(directory.resolve("tools"));
        Path id = Files.writeString(tools.resolve("id"), "#!/bin/sh\necho 54321\n");
        Files.setPosixFilePermissions(id, PosixFilePermissions.fromString("rwxr-xr-x"));
        return tools;
    }

    @Test
    void a_file_that_others_can_read_or_write_is_replaced() throws IOException {
        for (String rights : List.of("rw-r-----", "rw-----w-")) {
            issues(1, in(3600));
            accessKey("aws-process", "a");
            Path file = cached().getFirst();
            Files.writeString(file, "9999999999\n{\"AccessKeyId\":\"PLANTED\"}\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
            assertEquals("A1", accessKey("aws-process", "a"));
            assertEquals("rw-------", rights(file));
            client.run("logout");
        }
    }

    @Test
    void a_damaged_file_is_replaced() throws IOException {
        issues(1, in(3600));
        accessKey("aws-process", "a");
        for (String text : List.of("", "x\n{}", "9999999999", "-1\n{}")) {
            Files.writeString(cached().getFirst(), text);
            assertEquals("A1", accessKey("aws-process", "a"), text);
        }
    }

    @Test
    void logout_deletes_everything() throws IOException {
        issues(1, in(3600));
        accessKey("aws-process", "a");
        Path token = Files.createDirectories(directory.resolve("home/.local/state/mintmark"));
        Files.writeString(token.resolve("token"), "a.b.c");
        assertEquals(0, client.run("logout").exit());
        assertFalse(Files.exists(cache()));
        assertFalse(Files.exists(token.resolve("token")));
    }

    @Test
    void without_a_place_for_it_or_with_an_unreadable_token_every_call_mints() {
        Assumptions.assumeTrue(shell != Shell.ZSH, "zsh finds a home by itself");
        issues(1, in(3600));
        client.without("XDG_CACHE_HOME").without("HOME");
        assertEquals("A1", accessKey("aws-process", "a"));
        assertEquals("A1", accessKey("aws-process", "a"));
        configure();
        client.with("XDG_CACHE_HOME", "/proc/nowhere");
        assertEquals("A1", accessKey("aws-process", "a"));
        configure();
        for (String token : List.of("opaque", "a.b.c", ClientProcess.token(Map.of("sub", "s")))) {
            client.with("MINTMARK_TOKEN", token);
            assertEquals("A1", accessKey("aws-process", "a"));
            assertEquals("A1", accessKey("aws-process", "a"));
        }
        assertEquals(9, broker.asked().size());
    }

    @Test
    void a_refusal_is_not_cached() {
        broker.says("/sdk/aws/a", 403, "{\"error\": \"FORBIDDEN\"}");
        assertEquals(1, client.run("aws-process", "a").exit());
        issues(1, in(3600));
        assertEquals(1, client.run("aws-process", "a").exit());
        assertEquals("A1", accessKey("aws-process", "a"));
        assertEquals(3, broker.asked().size());
    }
}
