package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Documented;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The lines of {@code src/clients/gitlab}, with the inputs of the page, as a runner's shell runs
 * them.
 */
class GitlabComponentTest {
    private static final Path COMPONENT = Path.of("src/clients/gitlab/templates/mintmark.yml");
    private static final Pattern INPUT = Pattern.compile("\\$\\[\\[ inputs\\.(\\w+) ]]");
    private static final String CLIENTS =
            Objects.requireNonNull(ClientProcess.FILE.getParent()).toString();

    @TempDir Path directory;

    @AutoClose
    private final StandIn broker =
            new StandIn().mints("deploy", "{\"ACCESS_TOKEN\": \"a b\", \"ORDERS_TOKEN\": \"c\"}");

    @BeforeEach
    void start() {
        Assumptions.assumeTrue(Shell.installed().findAny().isPresent(), "no curl or jq");
    }

    private static Map<?, ?> map(@Nullable Object value) {
        return (Map<?, ?>) Objects.requireNonNull(value);
    }

    private static List<?> list(@Nullable Object value) {
        return (List<?>) Objects.requireNonNull(value);
    }

    private static String text() throws IOException {
        return Files.readString(COMPONENT);
    }

    /** Of the page, with the broker of this test. */
    private Map<String, String> inputs() {
        String page =
                Documented.yaml("clients.md").stream()
                        .filter(block -> block.contains("component:"))
                        .findFirst()
                        .orElseThrow();
        Object included = map(new Yaml().load(page)).get("include");
        Map<String, String> inputs = new HashMap<>(Map.of("members", ""));
        map(map(list(included).getFirst()).get("inputs"))
                .forEach((name, value) -> inputs.put(name.toString(), value.toString()));
        inputs.put("url", broker.url());
        return inputs;
    }

    private Ended job(Map<String, String> inputs, String script) throws IOException {
        String rendered =
                INPUT.matcher(text())
                        .replaceAll(found ->
                                "'" + Objects.requireNonNull(inputs.get(found.group(1))) + "'");
        @Nullable Object last = null;
        for (Object document : new Yaml().loadAll(rendered)) {
            last = document;
        }
        Map<?, ?> job = map(map(last).get(".mintmark"));
        assertEquals(
                "mintmark-acme", map(map(job.get("id_tokens")).get("MINTMARK_TOKEN")).get("aud"));
        StringBuilder lines = new StringBuilder();
        list(job.get("before_script")).forEach(line -> lines.append(line).append('\n'));
        ProcessBuilder builder = new ProcessBuilder("sh", "-e", "-c", lines + script);
        builder.environment().clear();
        builder.environment().put("PATH", CLIENTS + ":" + Shell.SEARCH_PATH);
        builder.environment().put("HOME", directory.toString());
        builder.environment().put("MINTMARK_TOKEN", "of.the.job");
        map(job.get("variables"))
                .forEach((name, value) ->
                        builder.environment().put(name.toString(), value.toString()));
        return ClientProcess.await(builder.start());
    }

    @Test
    void every_input_is_used_and_declared() throws IOException {
        Object first = new Yaml().loadAll(text()).iterator().next();
        assertEquals(
                Set.copyOf(map(map(map(first).get("spec")).get("inputs")).keySet()),
                Set.copyOf(
                        INPUT.matcher(text())
                                .results()
                                .map((MatchResult found) -> (Object) found.group(1))
                                .toList()));
    }

    @Test
    void a_job_has_its_credentials_as_variables_and_no_token() throws IOException {
        Map<String, String> inputs = inputs();
        inputs.put("members", "ORDERS_TOKEN OTHER");
        Ended ended = job(inputs, "echo \"$ACCESS_TOKEN $ORDERS_TOKEN ${MINTMARK_TOKEN-none}\"");
        assertEquals("a b c none\n", ended.out(), ended.err());
        assertEquals(0, ended.exit());
        assertEquals(
                "Bearer of.the.job",
                broker.asked().getLast().header("Authorization").orElseThrow());
    }

    @Test
    void a_refusal_ends_the_job() throws IOException {
        Ended ended = job(inputs(), "echo goes on");
        assertNotEquals(0, ended.exit());
        assertTrue(ended.err().contains("--member ORDERS_TOKEN"), ended.err());
        assertEquals("", ended.out());
    }
}
