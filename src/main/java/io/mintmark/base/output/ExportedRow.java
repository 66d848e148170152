package io.mintmark.base.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.json.JacksonFactories;

/** A row of the audit log as {@link io.mintmark.auditor.export.PostgresExport} gives it. */
public final class ExportedRow {
    /**
     * A parser without limits: every row that PostgreSQL stores must be readable, or one row would
     * end every export.
     */
    private static final ObjectMapper JSON =
            new ObjectMapper(
                    JacksonFactories.factory()
                            .streamReadConstraints(
                                    StreamReadConstraints.builder()
                                            .maxNumberLength(Integer.MAX_VALUE)
                                            .maxStringLength(Integer.MAX_VALUE)
                                            .maxNestingDepth(Integer.MAX_VALUE)
                                            .build())
                            .streamWriteConstraints(
                                    StreamWriteConstraints.builder()
                                            .maxNestingDepth(Integer.MAX_VALUE)
                                            .build())
                            .build());

    private ExportedRow() {}

    public static JsonNode parse(String row) {
        try {
            return JSON.readTree(row);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a row from PostgreSQL is not valid JSON", e);
        }
    }

    /** A text as it is, anything else as JSON. */
    public static String text(JsonNode value) {
        try {
            return value.isTextual() ? value.textValue() : JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a row that was read can't be written as JSON", e);
        }
    }
}
