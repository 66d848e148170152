package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;

/** A row that only somebody else than a broker can have written. */
class UnknownKindTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void is_no_session_that_a_broker_authorized() throws Exception {
        String row =
                """
                {"kind": "new", "occurred_at": "2026-03-01T12:00:00Z", "chain": "2.a",
                 "seq": 1, "subject": "six"}
                """;

        JsonNode event = JSON.readTree(Ocsf.event(row));

        assertEquals(0, event.path("class_uid").asInt());
        assertEquals("new", event.path("activity_name").asText());
        assertEquals("six", event.at("/unmapped/subject").asText());
    }
}
