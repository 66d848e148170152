package io.mintmark.audit.canonical;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;

import io.mintmark.base.json.JacksonFactories;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A line of an export: one JSON object without duplicate members. Values of {@code jsonb} columns
 * keep their text, because PostgreSQL hashes that text.
 */
public final class ExportedLine {
    /** Levels of nesting; no column takes as many. */
    private static final int DEPTH = 1_000;

    private static final JsonFactory JSON =
            JacksonFactories.factory()
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxNestingDepth(DEPTH)
                                    .maxNameLength(Integer.MAX_VALUE)
                                    .maxStringLength(Integer.MAX_VALUE)
                                    .maxNumberLength(Integer.MAX_VALUE)
                                    .build())
                    .build();

    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

    private final Map<String, Value> members;

    /** The forms of a value that columns have. */
    public enum Form {
        TEXT,
        NUMBER,
        DOCUMENT,
        NULL,
        OTHER
    }

    /** A value; for a number, a document or another, the text in the line. */
    public record Value(Form form, String text) {}

    private ExportedLine(Map<String, Value> members) {
        this.members = members;
    }

    /** Parses a line of an export; empty if the line isn't one. */
    public static Optional<ExportedLine> parse(String line) {
        Map<String, Value> members = new LinkedHashMap<>();
        try (JsonParser json = JSON.createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return Optional.empty();
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                if (members.put(name, value(json, line)) != null) {
                    return Optional.empty();
                }
            }
            boolean ended = json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null;
            return ended ? Optional.of(new ExportedLine(members)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Value value(JsonParser json, String line) throws IOException {
        return switch (json.nextToken()) {
            case VALUE_STRING -> new Value(Form.TEXT, json.getText());
            case VALUE_NUMBER_INT -> new Value(Form.NUMBER, json.getText());
            case VALUE_NULL -> new Value(Form.NULL, "");
            case START_OBJECT, START_ARRAY -> {
                int from = Math.toIntExact(json.currentTokenLocation().getCharOffset());
                json.skipChildren();
                int to = Math.toIntExact(json.currentLocation().getCharOffset());
                yield new Value(Form.DOCUMENT, line.substring(from, to));
            }
            case null -> new Value(Form.OTHER, "");
            default -> new Value(Form.OTHER, json.getText());
        };
    }

    public boolean has(String member) {
        return members.containsKey(member);
    }

    /** The names of all members. */
    public Set<String> names() {
        return members.keySet();
    }

    public Value value(String member) {
        return members.getOrDefault(member, new Value(Form.NULL, ""));
    }

    /** A text member; null if it is absent. */
    public @Nullable String text(String member) {
        Value value = value(member);
        return value.form() == Form.TEXT ? value.text() : null;
    }

    /** A number of at most 18 digits; empty if it is absent. */
    public OptionalLong number(String member) {
        Value value = value(member);
        return value.form() == Form.NUMBER && DIGITS.matcher(value.text()).matches()
                ? OptionalLong.of(Long.parseLong(value.text()))
                : OptionalLong.empty();
    }
}
