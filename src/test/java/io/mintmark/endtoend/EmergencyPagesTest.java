package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.mintmark.base.sql.AuditRows;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs every command of the pages for emergencies, as root, on an installation as the installation
 * page makes it: those of docs/events, and those that its index links to. A page with a command
 * that this class doesn't run makes it fail.
 */
@Tag("heavy")
class EmergencyPagesTest {
    private static final String INDEX = "events/README.md";
    private static final Pattern LINK = Pattern.compile("\\((?:\\.\\./)?([a-z/-]+[.]md)\\)");
    private static final String CREDENTIAL = "ASIAQWERTZUIOPASDFGH";

    /** Pages whose commands need PostgreSQL's own programs, and the classes that run them. */
    private static final Map<String, List<Class<?>>> ELSEWHERE =
            Map.of(
                    "run/restore.md", List.of(RestoreIT.class, LossStopTest.class),
                    "events/database-moves.md", List.of(DatabaseMovesIT.class),
                    "events/database-password.md", List.of(DatabasePasswordIT.class));

    private static final Map<String, String> TLS =
            Map.of(
                    "SERVER_TLS_CERTIFICATE_FILE", "/etc/mintmark/tls/chain.pem",
                    "SERVER_TLS_KEY_FILE", "/etc/mintmark/tls/key.pem");

    @TempDir private Path directory;

    /** Pages that have commands. */
    static Stream<String> pages() throws IOException {
        Matcher links = LINK.matcher(Files.readString(Path.of("docs", INDEX)));
        return links.results()
                .map(link -> link.group(1))
                .map(page -> page.contains("/") ? page : "events/" + page)
                .distinct()
                .filter(page -> !commands(page).isEmpty());
    }

    private static List<String> commands(String page) {
        return Documented.blocks(page, "sh");
    }

    @ParameterizedTest
    @MethodSource("pages")
    void every_command_of_a_page_is_run_and_the_page_proves_that_it_worked(String page)
            throws IOException {
        if (ELSEWHERE.containsKey(page)) {
            return;
        }
        Queue<String> blocks = new ArrayDeque<>(commands(page));
        boolean tls = page.equals("events/certificate-ends.md");
        Map<String, String> settings = new HashMap<>(tls ? TLS : Map.of());
        try (RootInstallation installation = new RootInstallation(directory, settings)) {
            switch (page) {
                case "run/rotate-keys.md" -> {
                    rotate(installation, blocks);
                    replaceLost(installation, settings, blocks);
                }
                case "events/certificate-ends.md" -> renew(installation, blocks);
                case "events/auditor-comes.md" -> handOver(installation, blocks);
                case "events/laptop-stolen.md" -> block(installation, blocks);
                case "events/credential-leaked.md" -> find(installation, blocks);
                case "events/replica-taken-over.md" -> verify(installation, blocks);
                case "events/tenant-floods.md" -> count(installation, blocks);
                default -> fail("no test runs the commands of " + page);
            }
        }
        assertTrue(blocks.isEmpty(), () -> "no test runs " + blocks);
    }

    /** A stolen key, a planned one, and the audit log's. */
    private static void rotate(RootInstallation installation, Queue<String> blocks)
            throws IOException {
        installation.start();
        installation.succeeds(blocks.remove());
        String prove = blocks.remove();
        Eventually.holds(() -> installation.run(prove) == 0);

        String later = LocalDate.now(ZoneOffset.UTC).plusDays(2).toString();
        installation.succeeds(blocks.remove().replace("2026-08-02", later));
        String published = blocks.remove();
        Eventually.holds(
                () -> installation.run(published) == 0 && installation.said().lines().count() == 4);

        installation.succeeds(blocks.remove());
        String proveAudit = blocks.remove();
        assertEquals(1, installation.run(proveAudit), installation::said);
        assertTrue(installation.said().contains("sealed the last checkpoint"), installation::said);
        installation.stop();
        installation.start();
        Eventually.holds(() -> installation.run(proveAudit) == 0);
    }

    /** The audit log's key is lost: both keys verify the log afterwards, and one alone doesn't. */
    private static void replaceLost(
            RootInstallation installation, Map<String, String> settings, Queue<String> blocks)
            throws IOException {
        installation.succeeds("openssl pkey -in etc/audit.pem -pubout -out etc/trusted.pem");
        installation.succeeds(blocks.remove());
        assertEquals(1, installation.run("mintmark check"), installation::said);
        settings.put("AUDIT_KEY_REPLACED", "true");
        installation.succeeds("mintmark check");
        installation.stop();
        installation.start();
        settings.remove("AUDIT_KEY_REPLACED");
        Eventually.holds(() -> installation.run("mintmark check") == 0);
        installation.succeeds("grep --no-filename '\"checkpoint\"' out-* > etc/kept.jsonl");
        String verify = blocks.remove();
        assertEquals(
                1,
                installation.run(
                        "cd etc\nmintmark audit verify --keys trusted.pem --checkpoints kept.jsonl"),
                installation::said);
        installation.succeeds("cd etc\n" + verify);
        assertTrue(installation.said().contains("is the first one signed by key"));
    }

    /** The pair of the broker's port is replaced while it runs. */
    private static void renew(RootInstallation installation, Queue<String> blocks)
            throws IOException {
        String pair =
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days %d -subj"
                        + " /CN=localhost -keyout %s -out %s 2>&1\n";
        installation.succeeds(
                "install -d -m 750 -g mintmark /etc/mintmark/tls\n"
                        + pair.formatted(5, "old-key.pem", "old-chain.pem")
                        + "install -g mintmark -m 640 old-key.pem /etc/mintmark/tls/key.pem\n"
                        + "install -g mintmark -m 640 old-chain.pem /etc/mintmark/tls/chain.pem\n"
                        + pair.formatted(90, "new-key.pem", "new-chain.pem"));
        installation.start();
        installation.succeeds("openssl x509 -noout -enddate -in new-chain.pem");
        String expected = installation.said();

        installation.succeeds(blocks.remove());
        String served = blocks.remove();
        for (int port : installation.ports()) {
            String there = served.replace("mintmark.example.com:443", "127.0.0.1:" + port);
            Eventually.holds(
                    () -> installation.run(there) == 0 && installation.said().equals(expected));
        }
    }

    /** A log that verifies, and a folder for the auditor. */
    private static void handOver(RootInstallation installation, Queue<String> blocks)
            throws IOException {
        installation.start();
        installation.succeeds("openssl pkey -in etc/audit.pem -pubout -out trusted.pem");
        Eventually.holds(() ->
                installation.run("grep --no-filename '\"checkpoint\"' out-* > kept.jsonl") == 0);
        installation.succeeds(blocks.remove());
        installation.succeeds(blocks.remove());
        installation.succeeds("test -s evidence/README.md");
    }

    /** A log that verifies with the checkpoints from before an attack alone. */
    private static void verify(RootInstallation installation, Queue<String> blocks)
            throws IOException {
        installation.start();
        installation.succeeds("openssl pkey -in etc/audit.pem -pubout -out trusted.pem");
        Eventually.holds(() ->
                installation.run("grep --no-filename '\"checkpoint\"' out-* > kept.jsonl") == 0);
        String command = blocks.remove();
        String now = Instant.now().plusSeconds(1).toString();
        installation.succeeds(command.replace("2026-11-28T14:00", now));
        installation.succeeds("cmp kept.jsonl before.jsonl");
        assertEquals(1, installation.run(command.replace("2026-11-28T14:00", "2001")));
        installation.succeeds("! test -s before.jsonl");
    }

    /** A mint whose credential leaked. */
    private static void find(RootInstallation installation, Queue<String> blocks) {
        AuditRows.append(
                installation.database(),
                "here/1",
                AuditRows.mint("deploy", "aws-sts", CREDENTIAL, true));
        installation.succeeds("export TOKEN=token\n" + blocks.remove());
        assertTrue(installation.said().contains("deploy"), installation::said);
    }

    /** Requests of a tenant that add no row to the audit log. */
    private static void count(RootInstallation installation, Queue<String> blocks)
            throws IOException {
        try (IssuerStandIn issuer = IssuerStandIn.start()) {
            installation.database().admin(World.tenant(issuer.url(), "https://sts.example.com"));
            installation.start();
            String list =
                    "curl -fsS -H 'Authorization: Bearer %s' http://127.0.0.1:%d/credentials/keys"
                            .formatted(
                                    issuer.sign("ci:main", World.AUDIENCE),
                                    installation.ports().getFirst());
            for (int i = 0; i < 3; i++) {
                installation.succeeds(list);
            }
        }
        String command = blocks.remove();
        Eventually.holds(() ->
                installation.run(command) == 0
                        && installation.said().contains("3 \"tenant\":\"acme\""));
    }

    /** The person's subject, who holds a credential. */
    private static void block(RootInstallation installation, Queue<String> blocks) {
        String command = blocks.remove();
        Matcher subject = Pattern.compile("--subject (\\S+)").matcher(command);
        assertTrue(subject.find(), command);
        installation
                .database()
                .admin(World.tenant("https://ci.example.com", "https://sts.example.com"));
        AuditRows.append(installation.database(), "here/1", AuditRows.mint(subject.group(1), "{}"));
        installation.run(command);
        assertTrue(installation.said().contains(subject.group(1)), installation::said);
        installation
                .database()
                .assertRows(
                        "SELECT subject FROM broker.blocked_subject WHERE enabled",
                        subject.group(1));
    }

    /** A further block of such a page isn't left out there either. */
    @ParameterizedTest
    @MethodSource("elsewhere")
    void the_classes_that_run_the_commands_of_a_page_use_each_of_them(String page)
            throws IOException {
        StringBuilder sources = new StringBuilder();
        for (Class<?> runs : Objects.requireNonNull(ELSEWHERE.get(page))) {
            String name = runs.getName().replace('.', '/');
            String source = Files.readString(Path.of("src/test/java", name + ".java"));
            assertTrue(source.contains('"' + page + '"'), name);
            sources.append(source);
        }
        for (int block = 0; block < commands(page).size(); block++) {
            assertTrue(
                    Pattern.compile("(BLOCKS[.]get|commands)\\(%d\\)".formatted(block))
                            .matcher(sources)
                            .find(),
                    "no test runs block %d of %s".formatted(block, page));
        }
    }

    static Stream<String> elsewhere() {
        return ELSEWHERE.keySet().stream().sorted();
    }
}
