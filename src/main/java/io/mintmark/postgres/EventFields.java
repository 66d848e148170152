package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * The fields of {@code audit.event} that its canonical form is made of, from a row about to be
 * written, and as an expression for rows that are there.
 */
enum EventFields {
    MINT_ID,
    STEP(ColumnType.NUMBER),
    KIND,
    OCCURRED_AT(ColumnType.TIME),
    REQUEST_ID,
    TENANT,
    IDP,
    ISSUER,
    SUBJECT,
    KEY,
    PROVIDER,
    PROVIDER_TYPE,
    GRANT_ID(ColumnType.NUMBER),
    GRANT_REVISION(ColumnType.NUMBER),
    REASON,
    DETAIL,
    CREDENTIAL_ID,
    ISSUED_AT(ColumnType.TIME),
    EXPIRES_AT(ColumnType.TIME),
    TOKEN_ID,
    TOKEN_HASH(ColumnType.BYTES),
    CLAIMS(ColumnType.JSON),
    CLIENT_ADDRESS(ColumnType.ADDRESS),
    USER_AGENT,
    BROKER,
    CHAIN,
    SEQ(ColumnType.NUMBER);

    private final String column = name().toLowerCase(Locale.ROOT);
    private final ColumnType type;

    EventFields() {
        this(ColumnType.TEXT);
    }

    EventFields(ColumnType type) {
        this.type = type;
    }

    String column() {
        return column;
    }

    /** SQL that reads the column's canonical text. */
    String expression() {
        return type.expression(column);
    }

    ColumnType type() {
        return type;
    }

    /** This field among the canonical texts of a row. */
    @Nullable String in(List<@Nullable String> fields) {
        return fields.get(Arrays.asList(values()).indexOf(this));
    }

    /** The canonical texts of a row as {@link EventRows} writes it, but for chain and seq. */
    static List<@Nullable String> of(ObjectNode row) {
        List<@Nullable String> fields = new ArrayList<>(values().length);
        for (EventFields field : values()) {
            if (field != CHAIN && field != SEQ) {
                JsonNode value = row.get(field.column);
                fields.add(value == null ? null : field.text(value));
            }
        }
        return fields;
    }

    private String text(JsonNode value) {
        return switch (type) {
            case TEXT, NUMBER -> value.asText();
            case TIME -> micros(Instant.parse(value.asText()));
            case BYTES -> value.asText().substring("\\x".length());
            case ADDRESS -> address(value.asText());
            case JSON -> StoredJson.text(value);
        };
    }

    private static String micros(Instant at) {
        return Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, at));
    }

    private static String address(String text) {
        try {
            byte[] bytes = InetAddress.getByName(text).getAddress();
            return HexFormat.of().formatHex(bytes) + "/" + bytes.length * Byte.SIZE;
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("not an address", e);
        }
    }
}
