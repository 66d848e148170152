package io.mintmark.base.logging;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;

import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.time.Timestamps;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;

/**
 * One JSON object per line: {@code time}, {@code level}, {@code logger}, {@code message}, and if
 * known {@code requestId}, {@code tenant}, {@code trace_id}, {@code subject} and {@code exception};
 * the line of an answered request also has {@code address}, {@code method}, {@code route}, {@code
 * status}, {@code bytes} and {@code milliseconds}. ASCII only, so that no reader mistakes a
 * character for a newline.
 */
final class JsonLines extends Formatter {
    private static final JsonFactory JSON =
            JacksonFactories.factory().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    /** Fields that machines reckon with. */
    private static final Set<String> NUMBERS = Set.of("status", "bytes", "milliseconds");

    @Override
    public String format(LogRecord record) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            write(LogLine.of(record, formatMessage(record)), json);
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory failed", e);
        }
        return text.append('\n').toString();
    }

    private static void write(LogLine line, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("time", Timestamps.text(line.time()));
        json.writeStringField("level", LogLevels.word(line.level()));
        json.writeStringField("logger", line.logger());
        json.writeStringField("message", line.message());
        write("requestId", line.requestId(), json);
        write("tenant", line.tenant(), json);
        for (Map.Entry<String, String> field : line.fields().entrySet()) {
            write(field.getKey(), field.getValue(), json);
        }
        write("exception", line.exception(), json);
        json.writeEndObject();
    }

    private static void write(String field, String value, JsonGenerator json) throws IOException {
        if (NUMBERS.contains(field)) {
            json.writeNumberField(field, Long.parseLong(value));
        } else {
            json.writeStringField(field, value);
        }
    }

    private static void write(String member, Optional<String> value, JsonGenerator json)
            throws IOException {
        if (value.isPresent()) {
            json.writeStringField(member, value.get());
        }
    }
}
