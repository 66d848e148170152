package io.mintmark.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** A row of the audit log as {@link io.mintmark.postgres.PostgresExport} gives it. */
final class ExportedRow {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ExportedRow() {}

    static JsonNode parse(String row) {
        try {
            return JSON.readTree(row);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL wrote JSON that can't be read", e);
        }
    }
}
