package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/** What is written for the Open Cybersecurity Schema Framework is what its schema wants. */
class OcsfTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<Integer, String> CLASSES =
            Map.of(
                    3002, "authentication",
                    3003, "authorize_session",
                    3004, "entity_management",
                    0, "base_event");

    @TempDir private static Path directory;
    @AutoClose private static TestDatabase database;
    private static final List<JsonNode> EVENTS = new ArrayList<>();

    @BeforeAll
    static void export() throws Exception {
        database = TestDatabase.migrated();
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('gone')");
        database.admin("UPDATE broker.tenant SET display_name = 'A' WHERE name = 'acme'");
        database.admin(
                "INSERT INTO broker.shared_issuer VALUES ('https://i.example.com', '{sub}')");
        database.admin("DELETE FROM broker.shared_issuer WHERE issuer = 'https://i.example.com'");
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(AuditRows.mint("six", "{\"ref\":\"main\"}"));
            store.append(AuditRows.mint("four", "{}", "10.0.0.1", Instant.now()));
            List<Event> withheld = AuditRows.mint("deploy", "aws-sts", "ASIA1", false);
            store.append(withheld);
            store.append(List.of(AuditRows.ended(withheld, How.UNDONE)));
            store.append(AuditRows.failed("ci:main", "provider_timeout"));
            store.append(List.of(AuditRows.denied("stranger"), AuditRows.rejected()));
            store.append(AuditRows.mintBy("agent:bot", "ci:main"));
            Seals.seal(database);
        }
        Ran ran =
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run(
                                "export",
                                "--state",
                                directory.resolve("state").toString(),
                                "--format",
                                "ocsf",
                                "--all");
        assertEquals(0, ran.status(), ran.errors());
        for (String line : ran.output().lines().toList()) {
            EVENTS.add(JSON.readTree(line));
        }
    }

    private static Schema schema(int number) throws IOException {
        try (InputStream in =
                OcsfTest.class.getResourceAsStream("/ocsf/" + CLASSES.get(number) + ".json")) {
            return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                    .getSchema(JSON.readTree(Objects.requireNonNull(in)));
        }
    }

    @Test
    void every_event_is_valid_by_the_published_schema_of_its_class() throws Exception {
        var used = new TreeSet<Integer>();
        for (JsonNode event : EVENTS) {
            int number = event.path("class_uid").intValue();
            used.add(number);
            assertEquals(List.of(), schema(number).validate(event), event::toString);
        }
        assertEquals(new TreeSet<>(CLASSES.keySet()), used);
    }

    @Test
    void an_event_that_the_schema_does_not_know_would_be_noticed() throws Exception {
        var event = EVENTS.getFirst().deepCopy();
        ((ObjectNode) event).put("colour", "red");
        assertTrue(!schema(event.path("class_uid").intValue()).validate(event).isEmpty());
    }

    private static List<String> of(String log, String... pointers) {
        return EVENTS.stream()
                .filter(event -> event.at("/metadata/log_name").asText().equals(log))
                .map(event ->
                        Arrays.stream(pointers)
                                .map(pointer -> event.at(pointer).asText())
                                .reduce((left, right) -> left + " " + right)
                                .orElseThrow())
                .toList();
    }

    @Test
    void who_got_what_and_what_became_of_it_stands_where_the_schema_has_a_place() {
        assertEquals(
                List.of(
                        "3003 1 requested 0 six deploy",
                        "3003 1 issued 1 six deploy",
                        "3003 1 requested 0 four deploy",
                        "3003 1 issued 1 four deploy",
                        "3003 1 requested 0 ci:main deploy",
                        "3003 3 withheld 2 ci:main deploy",
                        "3003 1 ended 1 unknown deploy",
                        "3003 1 requested 0 ci:main deploy",
                        "3003 3 failed 2 ci:main deploy",
                        "3003 2 denied 2 stranger deploy",
                        "3002 2 rejected 2 unknown ",
                        "3003 1 requested 0 ci:main deploy",
                        "3003 1 issued 1 ci:main deploy"),
                of(
                        "audit.event",
                        "/class_uid",
                        "/severity_id",
                        "/metadata/event_code",
                        "/status_id",
                        "/user/name",
                        "/privileges/0"));
        assertTrue(of("audit.event", "/session/credential_uid").contains("ASIAsix"));
        assertTrue(
                of("audit.event", "/activity_name", "/status_code", "/session/credential_uid")
                        .contains("End undone ASIA1"));
        assertTrue(of("audit.event", "/src_endpoint/ip").contains("2001:db8::7"));
        assertTrue(of("audit.event", "/count").contains("12"));
        assertEquals(
                database.column("SELECT chain || ':' || seq FROM audit.event ORDER BY seq"),
                of("audit.event", "/metadata/uid"));
    }

    @Test
    void who_acted_for_the_subject_invoked_it() {
        assertEquals(
                "ci:main agent:bot agents https://agents.example.com",
                of(
                                "audit.event",
                                "/actor/user/name",
                                "/actor/invoked_by",
                                "/unmapped/actor_idp",
                                "/unmapped/actor_issuer")
                        .getLast());
        assertTrue(
                EVENTS.stream().filter(event -> event.at("/actor/invoked_by").isTextual()).count()
                        == 2);
    }

    @Test
    void changes_and_checkpoints_are_events_too() {
        List<String> changes =
                of("audit.config_change", "/activity_id", "/entity/type", "/entity/name");
        assertTrue(changes.contains("1 tenant acme"), changes.toString());
        assertTrue(changes.contains("3 tenant acme"), changes.toString());
        assertTrue(changes.contains("4 shared_issuer shared_issuer"), changes.toString());
        assertEquals(
                List.of("Checkpoint 1"),
                of("audit.checkpoint", "/activity_name", "/unmapped/checkpoint"));
    }

    @Test
    void nothing_of_a_row_is_lost() throws Exception {
        String row =
                database.value(
                        "SELECT to_jsonb(e) FROM audit.event AS e WHERE kind = 'issued' LIMIT 1");
        String hash = JSON.readTree(row).path("hash").asText();
        String event =
                EVENTS.stream()
                        .filter(each -> each.at("/unmapped/hash").asText().equals(hash))
                        .findFirst()
                        .orElseThrow()
                        .toString();
        JSON.readTree(row)
                .properties()
                .forEach(member -> {
                    if (member.getValue().isTextual() && !member.getKey().endsWith("_at")) {
                        assertTrue(
                                event.contains(JSON.valueToTree(member.getValue()).toString()),
                                member.getKey());
                    }
                });
    }
}
