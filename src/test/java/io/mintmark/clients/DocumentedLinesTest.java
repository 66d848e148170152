package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/** Runs the lines of the documents for clients that say so. */
class DocumentedLinesTest {
    private static final Pattern BLOCK = Pattern.compile("```sh run\n(.*?)```", Pattern.DOTALL);
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
}
