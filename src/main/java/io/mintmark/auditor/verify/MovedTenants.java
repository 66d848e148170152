package io.mintmark.auditor.verify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;

import io.mintmark.audit.checkpoint.MoveStatement;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.json.JacksonFactories;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/**
 * Judges the changes by which tenants came from other cells, and notes where the histories of
 * tenants end that moved away. The history before an arrival was made at the other cell, and its
 * statement, signed with that cell's audit key, says where it ended there: so the two histories are
 * one.
 */
public final class MovedTenants {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    /** Fields of a change. */
    private static final int TABLE = 2;

    private static final int BEFORE = 4;
    private static final int AFTER = 5;

    private final TrustedKeys cells;
    private final Findings findings;

    /** The last change, if a tenant moved away by it. */
    private @Nullable Departure departure;

    private record Departure(LogReader.Row change, String url) {}

    /**
     * @param cells the audit keys of all cells
     */
    MovedTenants(TrustedKeys cells, Findings findings) {
        this.cells = cells;
        this.findings = findings;
    }

    /** Whether a tenant came from another cell by this change. */
    public static boolean isArrival(LogReader.Row row) {
        return isOfTenant(row)
                && moved(row, BEFORE, "moved_to").isTextual()
                && !moved(row, AFTER, "moved_to").isTextual();
    }

    private static boolean isOfTenant(LogReader.Row row) {
        return "tenant".equals(row.fields().get(TABLE));
    }

    private static JsonNode moved(LogReader.Row row, int side, String column) {
        return json(row.fields().get(side)).path(column);
    }

    private static JsonNode json(@Nullable String text) {
        try {
            return text == null ? MissingNode.getInstance() : JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /** The next change, by tenant and revision. */
    void change(LogReader.Row row) {
        if (departure != null && !Objects.equals(departure.change().chain(), row.chain())) {
            end();
        }
        departure = isOfTenant(row) ? departure(row) : null;
        if (isArrival(row)) {
            arrived(row, moved(row, AFTER, "moved_from"));
        }
    }

    private static @Nullable Departure departure(LogReader.Row row) {
        JsonNode url = moved(row, AFTER, "moved_to");
        return url.isTextual() ? new Departure(row, url.asText()) : null;
    }

    /** Call this after the last change. */
    void end() {
        if (departure != null) {
            LogReader.Row last = departure.change();
            findings.told(
                    "Change %d of tenant %s, which moved to %s, is the last revision of its history at this cell (%s)"
                            .formatted(last.at(), last.chain(), departure.url(), last.hash()));
            departure = null;
        }
    }

    private void arrived(LogReader.Row row, JsonNode from) {
        String change =
                "Change %d of tenant %s, which came from %s,"
                        .formatted(row.at(), row.chain(), from.path("url").asText("nowhere"));
        try {
            MoveStatement stated = MoveStatement.read(from.path("statement").asText(), cells);
            if (!isOf(row, stated)) {
                throw new IllegalArgumentException("is about another history");
            }
            findings.told(
                    "%s follows revision %d, the last revision of its history at that cell (%s)"
                            .formatted(change, stated.revision(), stated.hash()));
        } catch (IllegalArgumentException e) {
            findings.doubtful(
                    "%s has a statement of that cell that %s: the changes before it are not proven"
                            .formatted(change, e.getMessage()),
                    String.valueOf(row.hash()));
        }
    }

    private static boolean isOf(LogReader.Row row, MoveStatement stated) {
        Long at = row.at();
        return stated.tenant().equals(row.chain())
                && at != null
                && stated.revision() == at - 1
                && stated.hash().equals(row.previous());
    }
}
