package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs the lines of the documents for clients that say so. */
class DocumentedLinesTest {
    private static final Pattern BLOCK = Pattern.compile("```sh run\n(.*?)```", Pattern.DOTALL);

    /** A block that starts with the client, and neither listens nor waits for a person. */
    private static final Pattern CLIENT =
            Pattern.compile("\\Amintmark-client (?!agent|login|[^\\n]*# prints)");

    /** A row with a package and its version. */
    private static final Pattern PACKAGE =
            Pattern.compile("(?m)^\\| `([^`]+)`[^|]*\\| (v?[0-9][^ |]*) \\|");

    private static final Path CLIENTS = Objects.requireNonNull(ClientProcess.FILE.getParent());

    @AutoClose private static World world;
    @TempDir Path directory;

    @BeforeAll
    static void start() {
        Assumptions.assumeTrue(
                Shell.installed().anyMatch(Shell.BASH::equals), "no bash, curl or jq");
        world = new World();
    }

    private static List<String> blocks(String document) throws IOException {
        return BLOCK.matcher(Files.readString(Path.of("docs", document)))
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    private Ended run(String lines) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), world.token());
        ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", lines);
        builder.directory(directory.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", CLIENTS + ":" + Shell.SEARCH_PATH);
        builder.environment().put("MINTMARK_URL", world.broker().url().toString());
        builder.environment().put("MINTMARK_TOKEN_FILE", token.toString());
        return ClientProcess.await(builder.start());
    }

    @Test
    void the_lines_for_clients_do_what_they_should() throws IOException {
        List<String> blocks = new ArrayList<>();
        for (String page : List.of("clients.md", "clients/aws.md", "clients/oauth2.md")) {
            blocks.addAll(blocks(page));
        }
        assertEquals(4, blocks.size());
        for (String block : blocks) {
            Ended ended = run(block);
            assertEquals(0, ended.exit(), block + ended.err());
            assertEquals("", ended.err());
            assertTrue(!ended.out().isEmpty() && !ended.out().contains("null"), ended.out());
        }
    }

    /**
     * With a token that the broker rejects (status 1), and without most of the commands (status
     * 127). A line that the client doesn't understand is status 2.
     */
    @Test
    @Tag("heavy")
    void every_line_with_the_client_is_one_that_the_client_understands() throws IOException {
        Path wrapper = Files.createDirectory(directory.resolve("bin")).resolve("mintmark-client");
        Path log = directory.resolve("log");
        Files.writeString(
                wrapper,
                "#!/bin/sh\nPATH='%s'\n'%s' \"$@\"\ncode=$?\necho \"$code $1 $2\" >>'%s'\nexit $code\n"
                        .formatted(Shell.SEARCH_PATH, ClientProcess.FILE, log));
        assertTrue(wrapper.toFile().setExecutable(true));
        String bash = Shell.find("bash").orElseThrow().toString();
        for (String page : pages()) {
            for (String block : Documented.blocks(page, "sh")) {
                if (CLIENT.matcher(block).find()) {
                    ProcessBuilder builder =
                            new ProcessBuilder(
                                    bash,
                                    "-c",
                                    block.replaceAll("\\bID\\b", UUID.randomUUID() + ""));
                    builder.directory(directory.toFile());
                    builder.environment().clear();
                    builder.environment().put("PATH", "" + wrapper.getParent());
                    builder.environment().put("HOME", directory.toString());
                    builder.environment().put("MINTMARK_URL", world.broker().url().toString());
                    builder.environment().put("MINTMARK_TOKEN", "no.identity.token");
                    ClientProcess.await(builder.start());
                }
            }
        }
        List<String> run = Files.readAllLines(log);
        assertEquals(
                List.of(), run.stream().filter(line -> !line.matches("(?:0|1|127) .*")).toList());
        assertTrue(run.size() > 20, run + "");
    }

    @Test
    void every_yaml_block_is_read_and_every_block_for_a_shell_too() throws IOException {
        for (String page : pages()) {
            for (String block : Documented.yaml(page)) {
                new Yaml().loadAll(block).forEach(read -> assertTrue(read != null, page));
            }
            for (String block : Documented.blocks(page, "sh")) {
                Process bash = new ProcessBuilder("bash", "-n", "-c", block).start();
                assertEquals("", ClientProcess.await(bash).err(), page + block);
            }
        }
    }

    /**
     * As the operator's source does it: the secrets are filled into the headers, and the object at
     * the path becomes a secret, whose values must be text.
     */
    @Test
    void the_request_of_external_secrets_mints_the_members_of_one_key() throws Exception {
        List<Map<?, ?>> documents = new ArrayList<>();
        for (String block : Documented.yaml("clients/tools.md")) {
            new Yaml().loadAll(block).forEach(read -> documents.add((Map<?, ?>) read));
        }
        Map<?, ?> webhook = part(ofKind(documents, "Webhook"), "spec");
        Map<?, ?> identity = ofKind(documents, "Secret");
        String token = part(identity, "stringData").keySet().iterator().next().toString();
        Map<?, ?> reference =
                (Map<?, ?>) Objects.requireNonNull((List<?>) webhook.get("secrets")).getFirst();
        assertEquals(
                part(identity, "metadata").get("name"), part(reference, "secretRef").get("name"));
        HttpRequest.Builder request =
                HttpRequest.newBuilder(
                        world.broker()
                                .url()
                                .resolve(URI.create(webhook.get("url") + "").getPath()));
        String filled = "{{ ." + reference.get("name") + "." + token + " }}";
        part(webhook, "headers")
                .forEach((name, value) ->
                        request.header(name + "", (value + "").replace(filled, world.token())));
        request.method(
                webhook.get("method") + "", BodyPublishers.ofString(webhook.get("body") + ""));
        HttpResponse<String> answer;
        try (HttpClient http = HttpClient.newHttpClient()) {
            answer = http.send(request.build(), BodyHandlers.ofString());
        }
        assertEquals(200, answer.statusCode(), answer.body());
        String path = part(webhook, "result").get("jsonPath") + "";
        JsonNode members =
                new ObjectMapper()
                        .readTree(answer.body())
                        .at(path.replaceFirst("^[$]", "").replace('.', '/'));
        assertTrue(members.path("AWS_SECRET_ACCESS_KEY").isTextual(), path);
        members.forEach(member -> assertTrue(member.isTextual(), path));
    }

    private static Map<?, ?> ofKind(List<Map<?, ?>> documents, String kind) {
        return documents.stream()
                .filter(document -> kind.equals(document.get("kind")))
                .findFirst()
                .orElseThrow();
    }

    private static Map<?, ?> part(Map<?, ?> document, String name) {
        return (Map<?, ?>) Objects.requireNonNull(document.get(name), name);
    }

    /** {@code .ci/libraries} installs what the table of tested packages names. */
    @Test
    void the_table_of_tested_packages_has_the_versions_that_are_installed() throws IOException {
        StringBuilder pinned = new StringBuilder(Files.readString(Path.of("pom.xml")));
        pinned.append(Files.readString(Path.of(".ci", "libraries")));
        try (Stream<Path> files = Files.walk(Path.of("src", "test", "libraries"))) {
            for (Path file :
                    files.filter(Files::isRegularFile).filter(each -> !isLock(each)).toList()) {
                pinned.append(Files.readString(file));
            }
        }
        List<MatchResult> rows =
                PACKAGE.matcher(Files.readString(Path.of("docs", "clients.md"))).results().toList();
        assertTrue(rows.size() > 20, rows + "");
        assertEquals(
                List.of(),
                rows.stream()
                        .filter(row -> !isPinned(pinned, row.group(1), row.group(2)))
                        .map(MatchResult::group)
                        .toList());
    }

    private static boolean isLock(Path file) {
        return file.endsWith("package-lock.json") || file.endsWith("go.sum");
    }

    private static boolean isPinned(CharSequence pinned, String name, String version) {
        return Pattern.compile(
                        "(?<![\\w/-])%s[^\\w-][^0-9]{0,60}?%s(?![\\w.])"
                                .formatted(Pattern.quote(name), Pattern.quote(version)))
                .matcher(pinned)
                .find();
    }

    private static List<String> pages() throws IOException {
        Path docs = Path.of("docs");
        try (Stream<Path> files = Files.walk(docs)) {
            return files.map(file -> docs.relativize(file).toString())
                    .filter(page -> page.matches("clients[.]md|(clients|providers)/.*[.]md"))
                    .sorted()
                    .toList();
        }
    }
}
