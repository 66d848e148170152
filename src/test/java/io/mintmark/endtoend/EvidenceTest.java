package io.mintmark.endtoend;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What an external auditor is handed, and the commands of its README.md. */
class EvidenceTest {
    private static final Pattern BLOCK = Pattern.compile("(?s)```sh\n(.*?)```");
    private final LocalDate today = LocalDate.now(ZoneOffset.UTC);

    @AutoClose private static World world;

    @TempDir private Path directory;

    @BeforeAll
    static void mintThings() {
        world = new World();
        world.broker().mint(world.token(), "api");
        world.broker().mint(world.token(), "spare");
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'ci', 'ci:brief', 'api', 'ticket 7');
                """);
        world.admin("DELETE FROM broker.subject_grant WHERE subject = 'ci:brief'");
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
    }

    private int evidence(Path output, String... more) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(world.database(), 1));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        List<String> arguments =
                new ArrayList<>(List.of("audit", "evidence", "--output", output.toString()));
        arguments.addAll(
                List.of("--from", today.minusDays(1) + "", "--to", Instant.now().toString()));
        arguments.addAll(List.of(more));
        return new Commands(environment, Path.of("")).execute(arguments.toArray(String[]::new));
    }

    /** Runs the commands of the folder's page; the exit status, and what they wrote. */
    private static Map.Entry<Integer, String> check(Path folder) throws Exception {
        String commands =
                BLOCK.matcher(Files.readString(folder.resolve("README.md")))
                        .results()
                        .map(block -> block.group(1))
                        .collect(Collectors.joining());
        Files.copy(
                folder.resolve("keys.pem"),
                folder.resolve("trusted.pem"),
                StandardCopyOption.REPLACE_EXISTING);
        Process process =
                new ProcessBuilder("sh", "-euc", commands)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Map.entry(process.waitFor(), said);
    }

    private static List<String> names(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void evidence_does_not_speak_of_the_future() {
        String tomorrow = LocalDate.now(ZoneOffset.UTC).plusDays(1).toString();
        Map<String, String> auditor = new HashMap<>(RunningBroker.environment(world.database(), 1));
        Path folder = directory.resolve("future");
        assertEquals(
                1,
                new Commands(auditor, Path.of(""))
                        .execute(
                                "audit",
                                "evidence",
                                "--output",
                                folder.toString(),
                                "--from",
                                "2026-01-01",
                                "--to",
                                tomorrow));
        assertFalse(Files.exists(folder));
    }

    @Test
    void a_folder_verifies_by_the_commands_in_it_and_an_altered_one_does_not() throws Exception {
        Path folder = directory.resolve("march");
        assertEquals(0, evidence(folder), () -> "verify.txt has findings");
        assertEquals(
                "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
        for (String name : names(folder)) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(
                            Files.getPosixFilePermissions(folder.resolve(name))),
                    name);
            assertTrue(Files.size(folder.resolve(name)) > 0, name);
        }
        assertTrue(Files.readString(folder.resolve("events.csv")).contains("not_granted"));
        assertTrue(Files.readString(folder.resolve("who_could_mint_at_end.csv")).contains("api"));
        assertLacks(Files.readString(folder.resolve("who_could_mint_at_start.csv")), "ci:brief");
        assertLacks(Files.readString(folder.resolve("who_could_mint_at_end.csv")), "ci:brief");
        assertShows(Files.readString(folder.resolve("who_could_mint_within.csv")), "ci:brief");

        var result = check(folder);
        assertEquals(0, result.getKey(), result.getValue());
        List<String> said = result.getValue().lines().toList();
        assertEquals(2, said.stream().filter("Verified OK"::equals).count(), result.getValue());
        assertEquals(said.get(said.size() - 2), said.getLast(), result.getValue());
        assertEquals(64, said.getLast().length());

        Path sums = folder.resolve("SHA256SUMS");
        Path events = folder.resolve("events.jsonl");
        Files.writeString(events, Files.readString(events).replace("not_granted", "not_wanted"));
        assertNotEquals(0, check(folder).getKey());
        String forged = new ProcessOutput("sha256sum", events).text().substring(0, 64);
        Files.writeString(
                sums, Files.readString(sums).replaceAll("[0-9a-f]{64}(?=  events.jsonl)", forged));
        var resigned = check(folder);
        assertNotEquals(0, resigned.getKey());
        assertTrue(resigned.getValue().contains("Verification failure"), resigned.getValue());
    }

    /** What a program writes about a file. */
    private record ProcessOutput(String program, Path file) {
        String text() throws Exception {
            Process process = new ProcessBuilder(program, file.toString()).start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Tag("heavy")
    @Test
    void a_folder_of_a_log_that_is_being_written_shows_one_moment() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        AtomicInteger edits = new AtomicInteger();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> minting =
                    threads.submit(() -> {
                        while (!ended.get()) {
                            world.broker().mint(world.token(), "api");
                        }
                    });
            Future<?> editing =
                    threads.submit(() -> {
                        while (!ended.get()) {
                            world.admin(
                                    "UPDATE broker.key SET description = 'edit %d' WHERE name = 'api'"
                                            .formatted(edits.incrementAndGet()));
                        }
                    });
            try {
                for (int i = 0; i < 3; i++) {
                    long before = mints();
                    Path folder = directory.resolve("busy" + i);
                    assertEquals(0, evidence(folder), () -> "verify.txt has findings");
                    assertTrue(mints() > before, "nothing was written meanwhile");
                    assertIsOfOneMoment(folder);
                    var result = check(folder);
                    assertEquals(0, result.getKey(), result.getValue());
                }
            } finally {
                ended.set(true);
            }
            minting.get();
            editing.get();
        }
        assertTrue(edits.get() > 3, "too few edits: " + edits);
    }

    private static long mints() {
        return Long.parseLong(world.value("SELECT count(*) FROM audit.event WHERE step = 1"));
    }

    /** The review counts the mints of the log, and each was decided on a state of the history. */
    private static void assertIsOfOneMoment(Path folder) throws Exception {
        JsonMapper mapper = new JsonMapper();
        long uses = 0;
        long decidedOn = 0;
        for (String line : Files.readAllLines(folder.resolve("events.jsonl"))) {
            JsonNode event = mapper.readTree(line);
            if (event.path("kind").asText().equals("requested")
                    && event.path("key").asText().equals("api")) {
                uses++;
                decidedOn = Math.max(decidedOn, event.path("grant_revision").asLong());
            }
        }
        long known = 0;
        for (String line : Files.readAllLines(folder.resolve("changes.jsonl"))) {
            JsonNode change = mapper.readTree(line);
            if (change.path("tenant").asText().equals("acme")) {
                known = Math.max(known, change.path("revision").asLong());
            }
        }
        assertTrue(decidedOn <= known, decidedOn + " is after " + known);
        List<String> review = Files.readAllLines(folder.resolve("grant_review.csv"));
        int column = List.of(review.getFirst().split(",")).indexOf("uses_90d");
        String counted =
                review.stream()
                        .filter(line -> line.contains(",\"api\","))
                        .map(line -> line.split(",", -1)[column])
                        .findFirst()
                        .orElseThrow();
        // the range ended a moment before the folder was written
        assertTrue(uses <= Long.parseLong(counted), uses + " of " + counted);
    }

    @Test
    void an_auditor_without_the_audit_key_gets_an_unsigned_folder_of_one_tenant() throws Exception {
        Path first = directory.resolve("first");
        assertEquals(0, evidence(first));
        Path own = directory.resolve("own");
        assertEquals(
                0, evidence(own, "--tenant", "acme", "--keys", first.resolve("keys.pem") + ""));
        assertFalse(names(own).contains("SHA256SUMS.sig"));
        assertFalse(names(own).contains("proof.jsonl"));
        var result = check(own);
        assertEquals(0, result.getKey(), result.getValue());
    }

    @Test
    void what_fails_leaves_no_folder_and_nothing_is_overwritten() throws Exception {
        assertEquals(1, evidence(directory.resolve("march"), "--tenant", "nobody"));
        assertEquals(List.of(), names(directory));
        assertEquals(1, evidence(directory));
        assertEquals(List.of(), names(directory));
    }
}
