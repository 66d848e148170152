package io.mintmark.audit.canonical;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** The fields of {@code audit.event} that its canonical form is made of, in its order. */
public enum EventFields {
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
    SHARED_REVISION(ColumnType.NUMBER),
    CONFIG_HASH(ColumnType.BYTES),
    REASON,
    DETAIL,
    CREDENTIAL_ID,
    ISSUED_AT(ColumnType.TIME),
    EXPIRES_AT(ColumnType.TIME),
    TOKEN_ID,
    TOKEN_HASH(ColumnType.BYTES),
    CLAIMS(ColumnType.JSON),
    ACTOR_IDP,
    ACTOR_ISSUER,
    ACTOR,
    ACTOR_CLAIMS(ColumnType.JSON),
    ACTOR_TOKEN_ID,
    ACTOR_TOKEN_HASH(ColumnType.BYTES),
    CLIENT_ADDRESS(ColumnType.ADDRESS),
    USER_AGENT,
    BROKER,
    CHAIN,
    SEQ(ColumnType.NUMBER);

    /** The fields that a row has before it gets its position in a chain. */
    public static final List<EventFields> LINKED =
            Arrays.stream(values()).filter(field -> field != CHAIN && field != SEQ).toList();

    private static final Map<EventFields, Integer> PLACES = places();

    private final String column = name().toLowerCase(Locale.ROOT);
    private final ColumnType type;

    EventFields() {
        this(ColumnType.TEXT);
    }

    EventFields(ColumnType type) {
        this.type = type;
    }

    private static Map<EventFields, Integer> places() {
        Map<EventFields, Integer> places = new EnumMap<>(EventFields.class);
        for (EventFields field : values()) {
            places.put(field, places.size());
        }
        return places;
    }

    public String column() {
        return column;
    }

    /** SQL that reads the column's canonical text. */
    public String expression() {
        return type.expression(column);
    }

    public ColumnType type() {
        return type;
    }

    /** This field among the canonical texts of a row. */
    public @Nullable String in(List<@Nullable String> fields) {
        return fields.get(Objects.requireNonNull(PLACES.get(this)));
    }
}
