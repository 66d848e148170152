package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Brokers of one process count together, so every figure here is a difference. */
class MetricsTest {
    /** Goes on after a loss, which a test causes. */
    @AutoClose private static final World world = new World(Map.of("AUDIT_ON_LOSS", "alert"));

    private static Answer scrape(RunningBroker broker) {
        URI address =
                URI.create("http://localhost:%d/observe/metrics".formatted(broker.adminPort()));
        return broker.send(
                HttpRequest.newBuilder(address).header("Accept", "text/plain;version=0.0.4").GET());
    }

    @Test
    void ends_are_counted_from_the_start_for_each_type_that_leaves_something_behind() {
        List<String> leaving =
                world.column(
                        "SELECT type FROM broker.provider_type WHERE leaves_behind ORDER BY 1");
        List<String> counted =
                samples(world.broker()).stream()
                        .filter(line -> line.startsWith("mintmark_endings_total{"))
                        .map(line -> line.replaceAll(".*type=\"([^\"]*)\".*", "$1"))
                        .distinct()
                        .sorted()
                        .toList();
        assertEquals(leaving, counted);
        for (String type : leaving) {
            for (String result : List.of("gone", "disarmed", "not_yet")) {
                String label = "result=\"" + result + "\"";
                assertTrue(
                        samples(world.broker()).stream()
                                .anyMatch(line ->
                                        line.startsWith("mintmark_endings_total{")
                                                && line.contains(label)
                                                && line.contains(type)),
                        label);
            }
        }
        assertEquals(0, value("mintmark_endings_open"));
        assertEquals(0, value("mintmark_endings_oldest_seconds"));
    }

    @Test
    void the_admin_port_answers_head_as_get_and_names_its_own_paths() throws Exception {
        for (String path : List.of("/observe/metrics", "/observe/health/live")) {
            Answer get = admin("GET", path);
            Answer head = admin("HEAD", path);
            assertEquals(200, head.status(), path);
            assertEquals(get.header("Content-Type"), head.header("Content-Type"), path);
            assertEquals("", head.response().body(), path);
        }
        Answer unknown = admin("GET", "/nothing");
        assertEquals(404, unknown.status());
        assertTrue(unknown.at("/message").contains("/observe/metrics"), unknown::toString);
        assertFalse(unknown.at("/message").contains("/credentials"), unknown::toString);
        assertEquals(404, admin("HEAD", "/observe/nothing").status());
    }

    private static Answer admin(String method, String path) {
        URI address =
                URI.create("http://localhost:%d%s".formatted(world.broker().adminPort(), path));
        return world.broker()
                .send(HttpRequest.newBuilder(address).method(method, BodyPublishers.noBody()));
    }

    private static List<String> samples(RunningBroker broker) {
        return scrape(broker)
                .response()
                .body()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    /** The value of the sample with this name and these labels; 0 where there is none. */
    private static double value(String name, String... labels) {
        return value(world.broker(), name, labels);
    }

    private static double value(RunningBroker broker, String name, String... labels) {
        List<String> found =
                samples(broker).stream()
                        .filter(line -> line.startsWith(name + "{"))
                        .filter(line -> Stream.of(labels).allMatch(line::contains))
                        .toList();
        assertTrue(found.size() <= 1, found.toString());
        return found.isEmpty()
                ? 0
                : Double.parseDouble(
                        found.getFirst().substring(found.getFirst().lastIndexOf(' ') + 1));
    }

    private static double mints(String type, String outcome) {
        return value(
                "mintmark_mints_total",
                "tenant=\"acme\"",
                "type=\"" + type + "\"",
                "outcome=\"" + outcome + "\"");
    }

    private static double requests(String route, int status) {
        return value(
                "mintmark_requests_total", "route=\"" + route + "\"", "status=\"" + status + "\"");
    }

    /** A request is counted when its answer has been sent, so perhaps a moment after it is read. */
    private static void counted(String route, int status, double atLeast) {
        Eventually.holds(() -> requests(route, status) >= atLeast);
    }

    private static double refusals(String reason) {
        return value("mintmark_refusals_total", "reason=\"" + reason + "\"");
    }

    @Test
    void a_mint_is_counted_with_its_tenant_its_type_and_all_that_it_took() {
        double issued = mints("aws-sts", "issued");
        double requests = requests("/credentials/mint", 200);
        double calls = value("mintmark_provider_call_seconds_count", "aws-sts", "minted");
        double commits = value("mintmark_audit_commit_seconds_count", "succeeded");
        double verified = value("mintmark_token_verification_seconds_count");
        assertEquals(200, world.broker().mint(world.token(), "deploy").status());
        assertEquals(issued + 1, mints("aws-sts", "issued"));
        counted("/credentials/mint", 200, requests + 1);
        assertEquals(calls + 1, value("mintmark_provider_call_seconds_count", "aws-sts", "minted"));
        assertEquals(commits + 2, value("mintmark_audit_commit_seconds_count", "succeeded"));
        assertTrue(value("mintmark_token_verification_seconds_count") > verified);
        assertTrue(value("mintmark_key_set_fetch_seconds_count", "succeeded") > 0);
        assertTrue(value("mintmark_catalogue_load_seconds_count", "succeeded") > 0);
    }

    @Test
    void a_failed_provider_is_counted_and_so_is_the_credential_that_was_dropped_for_it() {
        double failed = mints("aws-sts", "failed");
        double withheld = mints("jwt", "withheld");
        double rejected = refusals("provider_rejected");
        world.sts().next(new StsAnswer.Refusing(403, "AccessDenied", "no"));
        assertEquals(500, world.broker().mint(world.token(), "deploy", "api").status());
        assertEquals(failed + 1, mints("aws-sts", "failed"));
        assertEquals(withheld + 1, mints("jwt", "withheld"));
        assertEquals(rejected + 1, refusals("provider_rejected"));
        assertTrue(value("mintmark_provider_call_seconds_count", "aws-sts", "failed") > 0);
    }

    @Test
    void refusals_are_counted_by_their_reason() {
        double denied = refusals("keys_denied");
        double malformed = refusals("malformed_jwt");
        double unauthorized = requests("/credentials/mint", 401);
        world.broker().mint(world.token(), "spare");
        world.broker().mint("nonsense", "api");
        assertEquals(denied + 1, refusals("keys_denied"));
        assertEquals(malformed + 1, refusals("malformed_jwt"));
        counted("/credentials/mint", 401, unauthorized + 1);
    }

    @Test
    void a_path_that_is_none_makes_no_line_of_its_own() {
        double before = requests("none", 404);
        world.broker().get("/wp-login.php");
        world.broker().get("/credentials/" + World.SUBJECT);
        counted("none", 404, before + 2);
        String shown = scrape(world.broker()).response().body();
        for (String never : Set.of("wp-login", World.SUBJECT, "127.0.0.1", "localhost")) {
            assertFalse(shown.contains(never), never);
        }
    }

    @Test
    void queues_pool_and_catalogue_have_their_levels() {
        try (RunningBroker last =
                RunningBroker.on(world.database(), Map.of("AUDIT_ON_LOSS", "alert"))) {
            last.mint(world.token(), "api");
            assertEquals(0, value(last, "mintmark_audit_queue", "mints"));
            assertEquals(0, value(last, "mintmark_audit_queue", "rejections"));
            assertTrue(value(last, "mintmark_database_connections", "idle") >= 1);
            List<String> lines = samples(last);
            for (String level : Set.of("database_waiting", "catalogue_age_seconds")) {
                String start = "mintmark_" + level + "{";
                assertTrue(lines.stream().anyMatch(line -> line.startsWith(start)), level);
            }
            assertTrue(lines.stream().allMatch(line -> line.startsWith("mintmark_")));
        }
    }

    /** Otherwise strangers could make successes look slow. */
    @Test
    void a_client_that_leaves_before_its_request_is_whole_counts_as_no_success()
            throws IOException {
        double before = requests("/credentials/mint", 200);
        double left = requests("/credentials/mint", 499);
        try (Socket socket = new Socket("localhost", world.broker().url().getPort())) {
            socket.getOutputStream()
                    .write(
                            """
                            POST /credentials/mint HTTP/1.1\r
                            Host: localhost\r
                            Content-Type: application/json\r
                            Content-Length: 100\r
                            \r
                            {\
                            """
                                    .getBytes(StandardCharsets.US_ASCII));
        }

        Eventually.holds(() -> requests("/credentials/mint", 499) == left + 1);
        assertEquals(before, requests("/credentials/mint", 200));
    }

    @Test
    void what_nobody_has_done_yet_is_there_all_the_same() {
        List<String> lines = samples(world.broker());
        for (String start :
                List.of(
                        "mintmark_refusals_total{reason=\"token_replayed\"",
                        "mintmark_refusals_total{reason=\"claims_not_accepted\"",
                        "mintmark_refusals_total{reason=\"provider_throttled\"",
                        "mintmark_requests_total{route=\"/oauth2/token\",",
                        "mintmark_provider_call_seconds_count{outcome=\"failed\",scope=\"application\",type=\"azure\"",
                        "mintmark_audit_commit_seconds_count{outcome=\"failed\"")) {
            assertTrue(
                    lines.stream().anyMatch(line -> line.startsWith(start)),
                    start + " (other tests of this process may have counted it)");
        }
    }

    @Test
    void a_row_of_the_log_that_somebody_removed_is_counted_at_the_next_mint() {
        try (RunningBroker last =
                RunningBroker.on(world.database(), Map.of("AUDIT_ON_LOSS", "alert"))) {
            assertEquals(200, last.mint(world.token(), "api").status());
            assertEquals(0, value(last, "mintmark_audit_losses_total", "removal"));
            world.database().removeEvents("true");
            assertEquals(200, last.mint(world.token(), "api").status());
            assertEquals(200, last.mint(world.token(), "api").status());
            assertEquals(1, value(last, "mintmark_audit_losses_total", "removal"));
            assertEquals(0, value(last, "mintmark_audit_losses_total", "promotion"));
        }
    }

    @Test
    void every_metric_says_what_it_is() {
        List<String> lines = scrape(world.broker()).response().body().lines().toList();
        Set<String> explained =
                lines.stream()
                        .filter(line -> line.startsWith("# HELP "))
                        .filter(line -> line.matches("# HELP \\S+ \\S.*"))
                        .map(line -> line.split(" ", 4)[2])
                        .collect(Collectors.toSet());
        for (String line : lines) {
            if (line.startsWith("# TYPE ")) {
                assertTrue(explained.contains(line.split(" ", 4)[2]), line);
            }
        }
    }

    @Test
    void the_time_of_answers_is_told_by_route_and_status() {
        double before =
                value(
                        "mintmark_request_seconds_count",
                        "route=\"/credentials/keys\"",
                        "status=\"200\"");
        assertEquals(200, world.broker().keys(world.token()).status());
        Eventually.holds(() ->
                value(
                                "mintmark_request_seconds_count",
                                "route=\"/credentials/keys\"",
                                "status=\"200\"")
                        > before);
        for (String bucket : bucketsOfTheAlerts()) {
            assertTrue(
                    samples(world.broker()).stream()
                            .anyMatch(line ->
                                    line.startsWith("mintmark_request_seconds_bucket{")
                                            && line.contains("le=\"" + bucket + "\"")),
                    bucket + ": an alert that names another form of this number never fires");
        }
    }

    private static Set<String> bucketsOfTheAlerts() {
        String rules = Unchecked.call(() -> Files.readString(Path.of("docs/monitoring/rules.yml")));
        Set<String> buckets =
                Pattern.compile("le=\"([^\"]+)\"")
                        .matcher(rules)
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertFalse(buckets.isEmpty());
        return buckets;
    }

    @Test
    void the_log_that_all_replicas_share_and_the_process_have_their_figures() {
        world.database()
                .run(
                        Who.OWNER,
                        "INSERT INTO audit.open_mint (mint_id, tenant)"
                                + " VALUES ('01900000-0000-7000-8000-000000000000', 'acme')");
        try (RunningBroker last =
                RunningBroker.on(world.database(), Map.of("AUDIT_ON_LOSS", "alert"))) {
            Eventually.holds(() -> value(last, "mintmark_checkpoint_age_seconds") < 300);
            assertEquals(1, value(last, "mintmark_unresolved_mints"));
            assertEquals(1, value(last, "mintmark_build_info", "version=\"development\""));
            assertTrue(value(last, "mintmark_jvm_memory_bytes", "heap", "used") > 0);
            assertTrue(value(last, "mintmark_process_cpu_seconds") > 0);
            assertTrue(
                    value(last, "mintmark_process_open_files")
                            < value(last, "mintmark_process_max_files"));
        }
    }

    @Test
    void each_check_says_whether_it_passes() {
        try (RunningBroker last =
                RunningBroker.on(world.database(), Map.of("AUDIT_ON_LOSS", "alert"))) {
            for (String check : List.of("database", "broker_idp", "config", "memory")) {
                assertEquals(1, value(last, "mintmark_healthy", "check=\"" + check + "\""));
            }
            world.database().runAsSuperuser("REVOKE INSERT ON log.event FROM mintmark_app");
            try {
                assertEquals(503, last.mint(world.token(), "api").status());
                Eventually.holds(() -> value(last, "mintmark_healthy", "database") == 0);
            } finally {
                world.database().runAsSuperuser("GRANT INSERT ON log.event TO mintmark_app");
            }
            Eventually.holds(() -> value(last, "mintmark_healthy", "database") == 1);
        }
    }

    @Test
    void the_public_port_shows_none_of_it() {
        assertEquals(404, world.broker().get("/observe/metrics").status());
    }

    @Test
    void a_second_broker_of_the_process_comes_and_goes_without_stopping_the_count() {
        double before = mints("jwt", "issued");
        try (RunningBroker second = RunningBroker.on(world.database())) {
            assertEquals(200, scrape(second).status());
            assertEquals(200, world.broker().mint(world.token(), "api").status());
        }
        assertEquals(200, world.broker().mint(world.token(), "api").status());
        assertEquals(before + 2, mints("jwt", "issued"));
    }
}
