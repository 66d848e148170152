package io.mintmark.audit.log;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.canonical.StorableText;
import io.mintmark.audit.canonical.StoredJson;
import io.mintmark.audit.chain.Chain;
import io.mintmark.base.time.Timestamps;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A row of {@code audit.event} while it is written as JSON. The canonical text of each field is
 * kept beside it, for the hash.
 */
final class EventRow {
    private final Map<EventFields, String> canonical = new EnumMap<>(EventFields.class);
    private final JsonGenerator json;

    EventRow(JsonGenerator json) throws IOException {
        this.json = json;
        json.writeStartObject();
    }

    void text(EventFields field, String value) throws IOException {
        add(field, value);
        json.writeString(value);
    }

    void number(EventFields field, long value) throws IOException {
        add(field, Long.toString(value));
        json.writeNumber(value);
    }

    /** Adds a time in microseconds, the database's precision. */
    void time(EventFields field, Instant at) throws IOException {
        Instant stored = at.truncatedTo(ChronoUnit.MICROS);
        add(field, Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, stored)));
        json.writeString(Timestamps.text(stored));
    }

    void bytes(EventFields field, String hex) throws IOException {
        add(field, hex);
        json.writeString("\\x" + hex);
    }

    /**
     * Adds an address, without the zone of a link-local address, which is meaningless on other
     * machines.
     */
    void address(EventFields field, InetAddress address) throws IOException {
        byte[] bytes = address.getAddress();
        add(field, HexFormat.of().formatHex(bytes) + "/" + bytes.length * Byte.SIZE);
        String text = address.getHostAddress();
        int zone = text.indexOf('%');
        json.writeString(zone < 0 ? text : text.substring(0, zone));
    }

    /** Adds a JSON value that {@link StorableText#fit(JsonNode)} returned. */
    void json(EventFields field, JsonNode value) throws IOException {
        add(field, StoredJson.text(value));
        json.writeTree(value);
    }

    /** Adds a value that the statement needs and that isn't part of the row. */
    void beside(String name, boolean value) throws IOException {
        if (value) {
            json.writeBooleanField(name, true);
        }
    }

    private void add(EventFields field, String text) throws IOException {
        canonical.put(field, text);
        json.writeFieldName(field.column());
    }

    /** Links the row to the previous one in its chain, and completes it. */
    void link(Chain.Draft draft) throws IOException {
        List<@Nullable String> fields = new ArrayList<>(EventFields.LINKED.size());
        EventFields.LINKED.forEach(field -> fields.add(canonical.get(field)));
        Chain.Link link = draft.add(fields);
        json.writeStringField("chain", link.chain());
        json.writeNumberField("seq", link.seq());
        json.writeStringField("prev_hash", "\\x" + link.previous());
        json.writeStringField("hash", "\\x" + link.hash());
        json.writeEndObject();
    }
}
