package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * docs/clients/agents.md, block by block: the statements run, a shell runs the commands, and each
 * prints what the block after it shows.
 */
class AgentsPageTest {
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```([a-z ]*)\n(.*?)^```$");
    private static final String PERSON = "9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60";
    private static final String PEOPLE = "mintmark-people";

    @TempDir private Path directory;
    @AutoClose private final World world = new World();
    private List<List<String>> printed = List.of();

    @Test
    void each_block_does_what_the_page_says() throws Exception {
        Assumptions.assumeTrue(
                Shell.installed().anyMatch(Shell.BASH::equals), "no bash, curl or jq");
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('acme-keycloak', 'acme', '%s', '{%s}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'orders', 'own', 600, '{"audience": "https://orders.example.com"}'),
                       ('acme', 'invoices', 'own', 600, '{"audience": "https://invoices.example.com"}');
                """
                        .formatted(world.issuer().url(), PEOPLE));
        int shown = 0;
        String page = Files.readString(Path.of("docs/clients/agents.md"));
        for (MatchResult block : BLOCK.matcher(page).results().toList()) {
            switch (block.group(1)) {
                case "sql run" -> printed = sql(Who.ADMIN, block.group(2));
                case "sql run auditor" -> printed = sql(Who.AUDITOR, block.group(2));
                // the broker reads a change within a second
                case "sh run" -> Eventually.holds(() -> Unchecked.call(() -> ran(block.group(2))));
                default -> {
                    assertEquals(cells(block.group(2)), printed, block.group(2));
                    shown++;
                }
            }
        }
        assertEquals(6, shown);
    }

    private List<List<String>> sql(Who who, String statements) throws SQLException {
        String local =
                statements
                        .replace("https://agents.acme.example", world.issuer().url())
                        .replace("https://jobs.acme.example", world.issuer().url());
        List<List<String>> rows = new ArrayList<>();
        try (Connection connection = world.database().connect(who);
                Statement statement = connection.createStatement()) {
            if (statement.execute(local)) {
                ResultSet found = statement.getResultSet();
                int columns = found.getMetaData().getColumnCount();
                while (found.next()) {
                    List<String> row = new ArrayList<>();
                    for (int at = 1; at <= columns; at++) {
                        String text = found.getString(at);
                        row.add(text == null ? "" : text);
                    }
                    rows.add(row);
                }
            }
        }
        return rows;
    }

    private boolean ran(String command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", command);
        builder.directory(directory.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", Shell.SEARCH_PATH);
        builder.environment().put("MINTMARK_URL", world.broker().url().toString());
        tokens().forEach((variable, token) -> builder.environment().put(variable, file(token)));
        var process = ClientProcess.await(builder.start());
        printed = cells(process.out());
        return process.exit() == 0 && !printed.isEmpty();
    }

    private Map<String, String> tokens() {
        return Map.of(
                "PERSON_TOKEN_FILE", world.issuer().sign(PERSON, PEOPLE),
                "AGENT_TOKEN_FILE",
                        world.issuer().sign("agent:release-bot", "mintmark-acme-agents"),
                "JOB_TOKEN_FILE",
                        world.issuer()
                                .sign(
                                        Map.of(
                                                "sub",
                                                "repo:acme@1234567/shop@7654321:environment:production",
                                                "aud",
                                                "mintmark-acme-jobs",
                                                "ref",
                                                "refs/heads/main")));
    }

    private String file(String token) {
        try {
            return Files.writeString(Files.createTempFile(directory, "token", ""), token)
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The cells of rows as psql prints them, without their header; or lines. */
    private static List<List<String>> cells(String text) {
        List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
        boolean isTable = lines.size() > 1 && lines.get(1).startsWith("---");
        return lines.stream()
                .skip(isTable ? 2 : 0)
                .map(line -> Arrays.stream(line.split("\\|", -1)).map(String::strip).toList())
                .toList();
    }
}
