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

/**
 * The fields of {@code audit.event} that its canonical form is made of, from a row about to be
 * written, and as an expression for rows that are there.
 */
enum EventFields {
    MINT_ID,
    STEP,
    KIND,
    OCCURRED_AT(Type.TIME),
    REQUEST_ID,
    TENANT,
    IDP,
    ISSUER,
    SUBJECT,
    KEY,
    PROVIDER,
    PROVIDER_TYPE,
    GRANT_ID,
    GRANT_REVISION,
    REASON,
    DETAIL,
    CREDENTIAL_ID,
    ISSUED_AT(Type.TIME),
    EXPIRES_AT(Type.TIME),
    TOKEN_ID,
    TOKEN_HASH(Type.BYTES),
    CLAIMS(Type.JSON),
    CLIENT_ADDRESS(Type.ADDRESS),
    USER_AGENT,
    BROKER,
    CHAIN,
    SEQ;

    private enum Type {
        TEXT("%s::text"),
        TIME("trunc(extract(epoch FROM %s) * 1000000)::text"),
        BYTES("encode(%s, 'hex')"),
        ADDRESS("encode(substr(inet_send(%1$s), 5), 'hex') || '/' || masklen(%1$s)"),
        JSON("%s::text");

        private final String expression;

        Type(String expression) {
            this.expression = expression;
        }
    }

    private final Type type;

    EventFields() {
        this(Type.TEXT);
    }

    EventFields(Type type) {
        this.type = type;
    }

    String column() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** SQL that reads the column's canonical text. */
    String expression() {
        return type.expression.formatted(column());
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
                JsonNode value = row.get(field.column());
                fields.add(value == null ? null : field.text(value));
            }
        }
        return fields;
    }

    private String text(JsonNode value) {
        return switch (type) {
            case TEXT -> value.asText();
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
