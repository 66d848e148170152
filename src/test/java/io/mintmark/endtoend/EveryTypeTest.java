package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.credential.CredentialType.LoggedMint;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.catalogue.TypeExamples;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Each place that says something about a mint knows every type, by the type itself. */
class EveryTypeTest {
    private static World world;
    private static ConsoleWorld console;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                "INSERT INTO broker.console_access (tenant, all_tenants, claim, value) VALUES"
                        + " (NULL, true, 'role', '\"auditor\"')");
        types().forEach(EveryTypeTest::mintOnRecord);
        console = new ConsoleWorld(world.database().login(Who.CONSOLE), Optional.empty());
    }

    private static Collection<CredentialType> types() {
        return CredentialTypes.byName().values();
    }

    private static String subject(CredentialType type) {
        return "ci:" + type.name();
    }

    private static UUID mintId(CredentialType type) {
        return UUID.fromString(
                column("SELECT mint_id FROM audit.event WHERE key = 'key-%s' AND step = 1", type)
                        .getFirst());
    }

    private static List<String> column(String sql, CredentialType type) {
        return world.column(sql.formatted(type.name()));
    }

    /** A key of the type, a grant, and the rows of a mint that succeeded. */
    private static void mintOnRecord(CredentialType type) {
        JsonNode row =
                TypeExamples.json(
                        column(
                                        "SELECT to_jsonb(t) FROM broker.provider_type AS t WHERE"
                                                + " type = '%s'",
                                        type)
                                .getFirst());
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'of-%1$s', '%1$s', '%2$s');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'key-%1$s', 'of-%1$s', %4$d, '%3$s');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:%1$s', 'key-%1$s');
                """
                        .formatted(
                                type.name(),
                                quoted(TypeExamples.required(row.path("provider_settings"))),
                                quoted(
                                        TypeExamples.required(
                                                row.path("key_settings"),
                                                row.path("target_setting").asText())),
                                Math.max(3600, row.path("min_duration").asInt())));
        world.database()
                .run(
                        Who.APP,
                        """
                        CREATE TEMPORARY TABLE made AS
                        SELECT (lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0')
                                || '7abc8' || left(md5('%1$s'), 15))::uuid AS mint_id;
                        INSERT INTO audit.event
                               (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                provider, provider_type, grant_id, grant_revision, token_hash, claims, broker,
                                credential_id, issued_at, expires_at)
                        SELECT made.mint_id, s.step, s.kind, now(), 'r', 'acme', 'ci', 'https://issuer.example',
                               'ci:%1$s', 'key-%1$s', 'of-%1$s', '%1$s', g.id, broker.revision('acme'),
                               sha256('t'), '{}', 'b', CASE s.step WHEN 2 THEN 'id-%1$s' END,
                               CASE s.step WHEN 2 THEN now() END, now() + interval '1 hour'
                          FROM made
                         CROSS JOIN (VALUES (1, 'requested'), (2, 'issued')) AS s (step, kind)
                          JOIN broker.subject_grant AS g ON g.subject = 'ci:%1$s'
                         ORDER BY s.step;
                        """
                                .formatted(type.name()));
    }

    private static String quoted(JsonNode settings) {
        return settings.toString().replace("'", "''");
    }

    @AfterAll
    static void stop() {
        console.close();
        world.close();
    }

    private static String run(Who who, String... arguments) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(world.database(), 1));
        environment.put("DATABASE_USERNAME", who.login());
        PrintStream before = System.out;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            int status = new Commands(environment, Path.of("")).execute(arguments);
            String text = written.toString(StandardCharsets.UTF_8);
            assertEquals(0, status, text);
            return text;
        } finally {
            System.setOut(before);
        }
    }

    private static void assertContains(String part, String whole) {
        assertTrue(whole.contains(part), () -> "'%s' isn't in %s".formatted(part, whole));
    }

    @ParameterizedTest
    @MethodSource("types")
    void the_console_says_where_the_providers_log_shows_a_mint(CredentialType type) {
        var log =
                type.log(
                        new LoggedMint(
                                "acme",
                                "key-" + type.name(),
                                Optional.of("id-" + type.name()),
                                Instant.now(),
                                Optional.empty()));

        assertContains(log.where(), page("/mints/" + mintId(type)));
    }

    @ParameterizedTest
    @MethodSource("types")
    void the_console_shows_all_targets_of_a_key_and_of_a_mint(CredentialType type) {
        String targets =
                column("SELECT target FROM broker.who_can_mint WHERE key = 'key-%s'", type)
                        .getFirst();

        assertContains(
                "<span class=\"id\">%s</span> at".formatted(targets),
                page("/keys/acme/key-" + type.name()));
        assertContains(
                "target then: <span class=\"id wrap\">" + targets, page("/mints/" + mintId(type)));
    }

    @ParameterizedTest
    @MethodSource("types")
    void the_console_says_how_credentials_end_early(CredentialType type) {
        assertContains(
                "To end a credential of type %s early: %s".formatted(type.name(), type.earlyEnd()),
                page("/mints/" + mintId(type)));
    }

    /** As a browser shows it. */
    private static String page(String path) {
        var answer = console.get("auditor", path);
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.body()
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&#34;", "\"")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
    }

    @ParameterizedTest
    @MethodSource("types")
    void block_subject_says_how_a_credential_ends_early(CredentialType type) {
        String printed =
                run(
                        Who.ADMIN,
                        "block-subject",
                        "--tenant",
                        "acme",
                        "--subject",
                        subject(type),
                        "--reason",
                        "INC-7");

        world.admin("DELETE FROM broker.blocked_subject");
        assertContains(mintId(type).toString(), printed);
        List<String> lines = printed.lines().toList();
        int heading =
                lines.indexOf(
                        lines.stream()
                                .filter(line -> line.startsWith(type.name()))
                                .findFirst()
                                .orElseThrow(() -> new AssertionError(printed)));
        assertTrue(lines.get(heading).contains(", until 20"), printed);
        assertTrue(lines.get(heading + 1).startsWith("  "), printed);
    }

    @ParameterizedTest
    @MethodSource("types")
    void audit_show_names_provider_and_type(CredentialType type) {
        String printed = run(Who.AUDITOR, "audit", "show", "--subject", subject(type));

        assertContains("provider   of-%1$s (%1$s)".formatted(type.name()), printed);
        assertContains("credential id-%s".formatted(type.name()), printed);
    }

    @ParameterizedTest
    @MethodSource("types")
    void an_ocsf_event_names_provider_and_credential(CredentialType type) {
        String events = run(Who.AUDITOR, "audit", "export", "--format", "ocsf");

        List<JsonNode> ofType =
                events.lines()
                        .map(TypeExamples::json)
                        .filter(event ->
                                event.at("/dst_endpoint/svc_name")
                                        .asText()
                                        .equals("of-" + type.name()))
                        .toList();
        assertTrue(
                ofType.stream().anyMatch(event -> event.toString().contains("\"id-" + type.name())),
                ofType::toString);
    }

    @ParameterizedTest
    @MethodSource("types")
    void calls_of_a_type_are_counted_from_the_start(CredentialType type) {
        String metrics =
                world.broker()
                        .send(
                                HttpRequest.newBuilder(
                                                URI.create(
                                                        "http://localhost:%d/observe/metrics"
                                                                .formatted(
                                                                        world.broker()
                                                                                .adminPort())))
                                        .header("Accept", RefusedFiles.FORMAT))
                        .toString();

        assertEquals(
                2,
                metrics.lines()
                        .filter(line ->
                                line.startsWith("mintmark_provider_call_seconds_count")
                                        && line.contains("type=\"%s\"".formatted(type.name())))
                        .count());
    }

    @ParameterizedTest
    @MethodSource("types")
    void explain_grants_its_key_and_names_type_and_target(CredentialType type) {
        assertEquals(
                List.of("key-" + type.name()),
                column("SELECT key FROM broker.explain('ci', 'ci:%s', '{}') WHERE granted", type));
        assertEquals(
                List.of(type.name()),
                column(
                        "SELECT provider_type FROM broker.who_can_mint WHERE key = 'key-%s' AND"
                                + " target <> ''",
                        type));
    }
}
