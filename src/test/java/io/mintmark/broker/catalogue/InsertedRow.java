package io.mintmark.broker.catalogue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The one row that a statement inserts.
 *
 * @param values the expressions by column
 */
record InsertedRow(String table, Map<String, String> values) {
    /** How the names of rows begin that are right. */
    static final String RIGHT = "right-";

    private static final Pattern INSERT =
            Pattern.compile(
                    "INSERT INTO broker\\.(\\w+) \\(([a-z_, ]+)\\) VALUES \\((.*)\\);\n",
                    Pattern.DOTALL);

    /** A row of each table that could be written beside those of the refusals' setup. */
    private static final Map<String, Map<String, String>> RIGHT_ROWS =
            Map.of(
                    "tenant", Map.of("name", "'%s'"),
                    "tenant_admin", Map.of("tenant", "'acme'", "role_name", "'%s'"),
                    "shared_issuer",
                            Map.of("issuer", "'https://%s.example.com'", "owner_claims", "'{x}'"),
                    "identity_provider",
                            Map.of(
                                    "tenant", "'acme'",
                                    "name", "'%s'",
                                    "issuer", "'https://%s.example.com'",
                                    "audiences", "'{%s}'"),
                    "access_provider", Map.of("tenant", "'acme'", "name", "'%s'", "type", "'jwt'"),
                    "key",
                            Map.of(
                                    "tenant", "'acme'",
                                    "name", "'%s'",
                                    "provider", "'own'",
                                    "max_duration", "600",
                                    "settings", "'{\"audience\": \"https://api.example.com\"}'"),
                    "subject_grant",
                            Map.of(
                                    "tenant", "'acme'",
                                    "idp", "'ci'",
                                    "subject", "'%s'",
                                    "key", "'deploy'"),
                    "blocked_subject",
                            Map.of("tenant", "'acme'", "subject", "'%s'", "reason", "'x'"),
                    "console_access",
                            Map.of("tenant", "'acme'", "claim", "'%s'", "value", "'\"x\"'"));

    /** Empty where a statement does anything else than inserting one row. */
    static Optional<InsertedRow> of(String sql) {
        Matcher insert = INSERT.matcher(sql);
        if (!insert.matches()) {
            return Optional.empty();
        }
        List<String> columns = Arrays.asList(insert.group(2).split(", "));
        List<String> expressions = split(insert.group(3));
        if (columns.size() != expressions.size()) {
            return Optional.empty();
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            values.put(columns.get(i), expressions.get(i));
        }
        return Optional.of(new InsertedRow(insert.group(1), values));
    }

    /** At the commas that stand in no brackets and no quotes. */
    private static List<String> split(String tuple) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        boolean quoted = false;
        for (int i = 0; i < tuple.length(); i++) {
            char sign = tuple.charAt(i);
            quoted ^= sign == '\'';
            if (quoted) {
                continue;
            }
            depth += sign == '(' || sign == '[' ? 1 : sign == ')' || sign == ']' ? -1 : 0;
            if (depth < 0) {
                return List.of();
            }
            if (sign == ',' && depth == 0) {
                parts.add(tuple.substring(from, i).strip());
                from = i + 1;
            }
        }
        parts.add(tuple.substring(from).strip());
        return parts;
    }

    Optional<String> value(String column) {
        return Optional.ofNullable(values.get(column));
    }

    /** A statement that writes it between two rows that are right. */
    String amongOthers() {
        Set<String> columns = new LinkedHashSet<>(values.keySet());
        columns.addAll(RIGHT_ROWS.getOrDefault(table, Map.of()).keySet());
        return Stream.of(right(1), values, right(3))
                .map(row ->
                        columns.stream()
                                .map(column -> row.getOrDefault(column, "DEFAULT"))
                                .collect(Collectors.joining(", ", "(", ")")))
                .collect(
                        Collectors.joining(
                                ", ",
                                "INSERT INTO broker.%s (%s) VALUES "
                                        .formatted(table, String.join(", ", columns)),
                                ""));
    }

    private Map<String, String> right(int number) {
        return RIGHT_ROWS.getOrDefault(table, Map.of()).entrySet().stream()
                .collect(
                        Collectors.toMap(
                                Map.Entry::getKey,
                                column -> column.getValue().formatted(RIGHT + number)));
    }
}
