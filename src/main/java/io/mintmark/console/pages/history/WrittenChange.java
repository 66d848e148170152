package io.mintmark.console.pages.history;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.RowJson;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** A row of {@code audit.config_change}. */
record WrittenChange(
        Optional<String> tenant,
        long revision,
        Instant at,
        String by,
        String operation,
        String table,
        String name,
        Optional<JsonNode> before,
        Optional<JsonNode> after) {
    static WrittenChange of(ResultSet row) throws SQLException {
        return new WrittenChange(
                Query.text(row, "tenant"),
                row.getLong("revision"),
                Query.time(row, "changed_at"),
                row.getString("changed_by"),
                row.getString("operation"),
                row.getString("table_name"),
                Query.text(row, "name").orElse(""),
                Query.text(row, "before").map(RowJson::read),
                Query.text(row, "after").map(RowJson::read));
    }

    /** The row after the change, or before it if the change deleted the row. */
    JsonNode is() {
        return after.or(() -> before).orElseThrow();
    }

    Optional<String> person() {
        boolean added = operation.equals("INSERT");
        return switch (table) {
            case "access_decision" -> member("subject").filter(_ -> member("decided_by").isEmpty());
            case "access_request" ->
                    isWithdrawal()
                            ? member("withdrawn_by")
                                    .or(() -> member("subject"))
                                    .filter(person -> !person.equals(by))
                            : member("subject").filter(_ -> added);
            case "subject_grant" ->
                    added && member("request_id").isPresent()
                            ? member("approved_by")
                                    .or(() -> member("subject"))
                                    .filter(person -> !person.equals(by))
                            : Optional.empty();
            default -> Optional.empty();
        };
    }

    private boolean isWithdrawal() {
        return member("status").filter("withdrawn"::equals).isPresent()
                && before.filter(row -> !row.path("status").asText().equals("withdrawn"))
                        .isPresent();
    }

    private Optional<String> member(String name) {
        return Optional.of(is().path(name)).filter(JsonNode::isTextual).map(JsonNode::asText);
    }
}
