package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the steps of the GitHub action as a runner does, against a stand-in of its token service.
 */
class GithubActionTest {
    private static final Path ACTION = Path.of("src", "clients", "github").toAbsolutePath();
    private static final Pattern INPUT = Pattern.compile("\\$\\{\\{ inputs\\.([a-z-]+) }}");
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose private static World world;

    @TempDir Path directory;
    @AutoClose private final StandIn far = new StandIn();
    private final Map<String, String> inputs = new HashMap<>();

    @BeforeAll
    static void start() {
        Assumptions.assumeTrue(
                Shell.installed().anyMatch(Shell.BASH::equals), "no bash, curl or jq");
        world = new World();
    }

    @BeforeEach
    void given() throws IOException {
        far.says("/token", 200, "{\"value\": \"%s\"}".formatted(world.token()));
        inputs.put("url", world.broker().url().toString());
        inputs.put("audience", World.AUDIENCE);
        inputs.put("keys", "deploy api");
        Files.createFile(env());
        Files.createFile(output());
    }

    private Path env() {
        return directory.resolve("env");
    }

    private Path output() {
        return directory.resolve("output");
    }

    /** Its one step, with the inputs where the runner puts them. */
    private Ended run() throws IOException {
        JsonNode action =
                JSON.valueToTree(
                        new Yaml().<Object>load(Files.readString(ACTION.resolve("action.yml"))));
        assertEquals("composite", action.at("/runs/using").asText());
        assertEquals(1, action.at("/runs/steps").size());
        JsonNode step = action.at("/runs/steps/0");
        assertEquals("bash", step.path("shell").asText());
        Path script = directory.resolve("step.sh");
        Files.writeString(script, step.path("run").asText());
        ProcessBuilder builder =
                new ProcessBuilder(
                        "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script.toString());
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.put("PATH", Shell.SEARCH_PATH);
        environment.put("GITHUB_ACTIONS", "true");
        environment.put("GITHUB_ACTION_PATH", ACTION.toString());
        environment.put("GITHUB_ENV", env().toString());
        environment.put("GITHUB_OUTPUT", output().toString());
        environment.put("ACTIONS_ID_TOKEN_REQUEST_URL", far.url() + "/token?api-version=2.0");
        environment.put("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "runner.request.token");
        step.path("env")
                .properties()
                .forEach(variable ->
                        environment.put(
                                variable.getKey(), input(action, variable.getValue().asText())));
        return ClientProcess.await(builder.start());
    }

    private String input(JsonNode action, String expression) {
        Matcher matcher = INPUT.matcher(expression);
        assertTrue(matcher.matches(), expression);
        JsonNode declared = action.path("inputs").path(matcher.group(1));
        assertFalse(declared.isMissingNode(), expression);
        return inputs.getOrDefault(matcher.group(1), declared.path("default").asText());
    }

    /** What the runner reads from such a file: {@code NAME<<DELIMITER}, lines, the delimiter. */
    private static Map<String, String> assigned(Path file) throws IOException {
        Map<String, String> assigned = new LinkedHashMap<>();
        String text = Files.readString(file);
        Matcher matcher =
                Pattern.compile("(\\w[\\w-]*)<<(\\S+)\n(.*?)\n\\2\n", Pattern.DOTALL).matcher(text);
        while (matcher.lookingAt()) {
            assigned.put(matcher.group(1), matcher.group(3));
            matcher.region(matcher.end(), text.length());
        }
        assertEquals(text.length(), matcher.regionStart());
        return assigned;
    }

    @Test
    void later_steps_get_the_members_and_every_secret_is_masked() throws IOException {
        Ended ended = run();
        assertEquals(0, ended.exit(), ended.err());
        Map<String, String> env = assigned(env());
        assertEquals("eu-central-1", env.get("AWS_DEFAULT_REGION"));
        for (String secret :
                List.of(
                        "AWS_ACCESS_KEY_ID",
                        "AWS_SECRET_ACCESS_KEY",
                        "AWS_SESSION_TOKEN",
                        "ACCESS_TOKEN")) {
            assertTrue(ended.out().contains("::add-mask::" + env.get(secret) + "\n"), secret);
        }
        assertFalse(ended.out().contains("eu-central-1"), ended.out());
        assertTrue(
                ended.out().lines().allMatch(line -> line.startsWith("::add-mask::")), ended.out());
        assertEquals("", ended.err());
        JsonNode credentials = JSON.readTree(assigned(output()).get("credentials"));
        assertEquals(env.get("ACCESS_TOKEN"), credentials.at("/api/ACCESS_TOKEN").asText());
        assertTrue(assigned(output()).getOrDefault("expires-at", "").startsWith("20"));
    }

    @Test
    void the_token_is_asked_for_with_the_audience() throws IOException {
        run();
        assertEquals(
                "/token?api-version=2.0&audience=mintmark-acme", far.asked().getFirst().target());
    }

    @Test
    void the_token_of_an_actor_goes_with_the_jobs() throws IOException {
        Path actor = Files.writeString(directory.resolve("actor"), "actor.identity.token");
        inputs.put("url", far.url());
        inputs.put("keys", "a");
        inputs.put("actor-token-file", actor.toString());
        far.mints("a", "{\"ACCESS_TOKEN\": \"b\"}");
        Ended ended = run();
        assertEquals(0, ended.exit(), ended.err());
        assertEquals(
                Optional.of("actor.identity.token"),
                far.asked().getLast().header("Mintmark-Actor-Token"));
        inputs.put("actor-token-file", "");
        assertEquals(0, run().exit());
        assertEquals(Optional.empty(), far.asked().getLast().header("Mintmark-Actor-Token"));
    }

    @Test
    void members_stay_out_of_the_environment_on_request() throws IOException {
        inputs.put("export", "false");
        assertEquals(0, run().exit());
        assertEquals(Map.of(), assigned(env()));
        assertTrue(assigned(output()).containsKey("credentials"));
    }

    @Test
    void a_refusal_ends_the_step_with_the_brokers_words_and_leaves_nothing() throws IOException {
        inputs.put("keys", "deploy spare");
        Ended ended = run();
        assertEquals(1, ended.exit());
        assertTrue(ended.err().contains("has no active grant for key 'spare'"), ended.err());
        assertEquals(Map.of(), assigned(env()));
        assertEquals(Map.of(), assigned(output()));
    }

    @Test
    void values_of_several_lines_and_with_commands_of_the_runner_do_no_harm() throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "odd");
        inputs.put("members", "VALUE");
        String odd = "first % line\n::set-output name=x::y\nEOF\nA=b \"quoted\"";
        far.mints("odd", JSON.createObjectNode().put("VALUE", odd).toString());
        Ended ended = run();
        assertEquals(0, ended.exit(), ended.err());
        assertEquals(odd, assigned(env()).get("VALUE"));
        assertEquals(
                Set.of(
                        "::add-mask::first %25 line%0A::set-output name=x::y%0AEOF%0AA=b \"quoted\"",
                        "::add-mask::first %25 line\\n::set-output name=x::y\\nEOF\\nA=b \\\"quoted\\\"",
                        "::add-mask::first %25 line",
                        "::add-mask::::set-output name=x::y",
                        "::add-mask::EOF",
                        "::add-mask::A=b \"quoted\""),
                Set.copyOf(ended.out().lines().toList()));
    }

    @Test
    void keys_that_would_overwrite_each_other_are_refused_before_anything_is_exported()
            throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "one two");
        far.says(
                "/credentials/mint",
                200,
                """
                {"credentials": {"one": {"ACCESS_TOKEN": "first-secret"}, "two": {"ACCESS_TOKEN": "second-secret"}}}
                """);
        Ended ended = run();
        assertEquals(2, ended.exit());
        assertEquals(
                List.of("::add-mask::first-secret", "::add-mask::second-secret"),
                ended.out().lines().limit(2).toList());
        assertTrue(
                ended.out()
                        .contains("::error::several keys have ACCESS_TOKEN with different values;"),
                ended.out());
        // a broker that knows the header mints nothing
        String distinct = far.asked().getLast().header("Mintmark-Distinct-Outputs").orElseThrow();
        assertTrue(List.of(distinct.split(" ")).contains("ACCESS_TOKEN"), distinct);
        inputs.put("export", "false");
        assertEquals(0, run().exit());
        assertEquals(Optional.empty(), far.asked().getLast().header("Mintmark-Distinct-Outputs"));
        assertEquals(Map.of(), assigned(env()));
    }

    @Test
    void every_value_is_masked_but_a_region_and_a_time() throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "odd");
        far.mints(
                        "odd",
                        """
                        {"AWS_REGION": "us-gov-west-1", "TOKEN_EXPIRY": "2026-01-01T00:00:00Z",
                         "GOOGLE_PROJECT_ID": "acme-prod", "PGSSLMODE": "require"}
                        """)
                .mints(
                        "odd",
                        """
                        {"AWS_REGION": "a secret", "TOKEN_EXPIRY": "2026-01-01", "MINIO_ENDPOINT": "https://a:b@c"}
                        """);
        assertEquals(
                List.of("::add-mask::acme-prod", "::add-mask::require"),
                run().out().lines().toList());
        assertEquals(
                List.of(
                        "::add-mask::2026-01-01",
                        "::add-mask::a secret",
                        "::add-mask::https://a:b@c"),
                run().out().lines().toList());
    }

    @Test
    void members_that_no_type_has_reach_later_steps_only_by_name() throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "odd");
        far.mints("odd", "{\"HARMLESS\": \"value\", \"ACCESS_TOKEN\": \"token\"}");
        Ended ended = run();
        assertEquals(1, ended.exit());
        assertTrue(ended.err().contains("add: --member HARMLESS"), ended.err());
        assertEquals(Map.of(), assigned(env()));
        inputs.put("members", "OTHER HARMLESS");
        assertEquals(0, run().exit());
        assertEquals(Map.of("HARMLESS", "value", "ACCESS_TOKEN", "token"), assigned(env()));
    }

    @Test
    void variables_that_change_what_later_steps_do_are_refused_always() throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "odd");
        far.mints("odd", "{\"NODE_OPTIONS\": \"--require=/tmp/x\"}");
        assertEquals(1, run().exit());
        inputs.put("members", "NODE_OPTIONS");
        assertEquals(2, run().exit());
        inputs.put("members", "");
        inputs.put("keys", "odd --member=NODE_OPTIONS");
        assertEquals(2, run().exit());
        assertEquals(Map.of(), assigned(env()));
        assertEquals(Map.of(), assigned(output()));
    }

    @Test
    void the_brokers_words_are_no_commands_for_the_runner() throws IOException {
        inputs.put("url", far.url());
        inputs.put("keys", "odd");
        far.says(
                "/credentials/mint",
                403,
                """
                {"error": "::error", "message": "x\\n::add-path::/tmp ##[set-env name=PATH]/tmp", "requestId": "::"}
                """);
        Ended ended = run();
        assertEquals(1, ended.exit());
        String log = ended.out() + ended.err();
        assertTrue(log.contains("add-path"), log);
        assertFalse(log.contains("::") || log.contains("##["), log);
    }

    @Test
    void a_job_asks_for_access_and_waits_for_it() throws Exception {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('people', 'acme', '%s', '{mintmark-people}', '{approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access)
                VALUES ('acme', 'spare', 'ci', 'ci:main', 7200);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'people', 'boss' FROM broker.access_rule
                """
                        .formatted(world.issuer().url()));
        inputs.put("keys", "api spare");
        inputs.put("request-reason", "Deploy of v1.2.3; $(id) \"quoted\"");
        inputs.put("request-for", "45m");
        inputs.put("export", "false"); // both keys have the same members
        String requests = "SELECT id FROM broker.access_request WHERE status = 'pending'";
        CompletableFuture<Ended> job =
                CompletableFuture.supplyAsync(() -> Unchecked.call(this::run));
        Eventually.holds(() -> !world.column(requests).isEmpty());
        world.assertRows(
                "SELECT concat_ws(' ', key, access, reason) FROM broker.access_request",
                "spare 2700 Deploy of v1.2.3; $(id) \"quoted\"");
        var decision =
                world.broker()
                        .request("/access-requests/%s/decision".formatted(world.value(requests)))
                        .header(
                                "Authorization",
                                "Bearer " + world.issuer().sign("boss", "mintmark-people"))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"verdict\":\"approve\"}"));
        assertEquals(200, world.broker().send(decision).status());
        Ended ended = job.get();
        assertEquals(0, ended.exit(), ended.err());
        assertTrue(
                String.valueOf(assigned(output()).get("credentials")).contains("\"spare\""),
                ended.err());
        world.admin("UPDATE broker.subject_grant SET enabled = false WHERE request_id IS NOT NULL");
        world.admin("UPDATE broker.access_rule SET enabled = false");
    }

    @Test
    void an_input_that_is_not_known_is_refused_before_anything_is_minted() throws IOException {
        inputs.put("export", "yes");
        assertEquals(2, run().exit());
        assertEquals(List.of(), far.asked());
    }
}
