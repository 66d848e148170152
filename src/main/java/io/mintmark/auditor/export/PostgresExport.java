package io.mintmark.auditor.export;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.log.AuditConnection;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Reads rows of the audit log for people and their tools, a row at a time. */
public final class PostgresExport implements AutoCloseable {
    /** The columns of {@code audit.event}, all of them. */
    public static final List<String> COLUMNS = columns();

    /**
     * A row belongs to when it was written, not to when its mint began, so that what one export
     * left out the next one has. The mint ids, which are ordered by time, keep it to the partitions
     * around: no outcome takes a day, and ends have an index by time. A subject's ends are found by
     * the requests, since their own rows don't name it.
     */
    private static final String ROWS =
            """
            SELECT to_jsonb(e.whole)::text AS row
              FROM (SELECT n.mint_id, n.step, n.kind, n.tenant, n.subject, n.key, n AS whole
                      FROM audit.event AS n
                     WHERE n.mint_id >= audit.first_mint_id(
                               greatest(cast(? AS timestamptz) - interval '1 day', '1970-01-01Z'))
                       AND n.mint_id < audit.first_mint_id(
                               least(cast(? AS timestamptz) + interval '1 day', '9999-01-01Z'))
                       AND n.occurred_at >= coalesce(cast(? AS timestamptz), '-infinity')
                       AND n.occurred_at < coalesce(cast(? AS timestamptz), 'infinity')
                    UNION ALL
                    SELECT n.mint_id, n.step, n.kind, n.tenant, n.subject, n.key, n
                      FROM audit.event AS n
                     WHERE n.kind = 'ended'
                       AND n.occurred_at >= cast(? AS timestamptz)
                       AND n.occurred_at < coalesce(cast(? AS timestamptz), 'infinity')
                       AND n.mint_id < audit.first_mint_id(
                               greatest(cast(? AS timestamptz) - interval '1 day', '1970-01-01Z'))
                   ) AS e
             WHERE true
            """;

    private static final String OF_SUBJECT =
            """
             AND (e.subject = ? OR e.kind = 'ended' AND EXISTS (
                     SELECT FROM audit.event AS r
                      WHERE r.mint_id = e.mint_id AND r.step = 1 AND r.subject = ?))
            """;

    private static final String TENANT = "SELECT FROM broker.tenant WHERE name = ?";

    private static final String PENDING =
            "SELECT count(*) FROM audit.unresolved WHERE requested_at < ?::timestamptz";

    private final AuditConnection connection;

    /**
     * Opens a connection of its own.
     *
     * @throws StoreUnreachable if there is no connection
     */
    public PostgresExport(DatabaseLogin login) {
        this.connection = new AuditConnection(login, "");
    }

    private static List<String> columns() {
        List<String> columns = new ArrayList<>();
        for (EventFields field : EventFields.values()) {
            columns.add(field.column());
        }
        columns.add("prev_hash");
        columns.add("hash");
        return List.copyOf(columns);
    }

    /** Each row as a JSON object, in the order of mints. */
    public void rows(Selection wanted, Consumer<String> each) {
        StringBuilder sql = new StringBuilder(ROWS);
        List<String> texts = new ArrayList<>();
        wanted.tenant().ifPresent(text -> and(sql, "tenant", text, texts));
        wanted.subject()
                .ifPresent(text -> {
                    sql.append(OF_SUBJECT);
                    texts.addAll(List.of(text, text));
                });
        wanted.key().ifPresent(text -> and(sql, "key", text, texts));
        sql.append(" ORDER BY e.mint_id, e.step");
        Optional<String> from = wanted.from().map(Instant::toString);
        Optional<String> to = wanted.to().map(Instant::toString);
        List<Object> parameters = new ArrayList<>(List.of(from, to, from, to, from, to, from));
        parameters.addAll(texts);
        read(Query.of(sql.toString(), parameters.toArray()), each);
    }

    /** Whether the tenant exists. Tenants are never deleted. */
    public boolean hasTenant(String name) {
        return !connection.list(Query.of(TENANT, name), _ -> name).isEmpty();
    }

    /** The number of mints that were requested before a time and have no outcome yet. */
    public long pending(Instant before) {
        return connection
                .list(Query.of(PENDING, before.toString()), row -> row.getLong(1))
                .getFirst();
    }

    private static void and(StringBuilder sql, String column, String text, List<String> texts) {
        sql.append(" AND e.").append(column).append(" = ?");
        texts.add(text);
    }

    /** The kind of id that selects a timeline. */
    public enum By {
        MINT("mint_id = cast(? AS uuid)", "mint_id = cast(? AS uuid)"),
        SUBJECT(By.SAME_SUBJECT, By.SAME_SUBJECT),
        ACTOR(By.SAME_ACTOR, By.SAME_ACTOR),
        REQUEST("request_id = ?", "request_id = ?"),
        KEY("key = ?", "key = ?"),
        /** A credential's id. Denied requests and rejected tokens have none. */
        CREDENTIAL("credential_id = ?", "mint_id IS NULL AND cast(? AS text) IS NULL");

        /** The condition on the subject. The index is over the hash. */
        private static final String SAME_SUBJECT =
                "subject = ? AND hashtextextended(t.subject, 0) = hashtextextended(?, 0)";

        private static final String SAME_ACTOR =
                "actor = ? AND hashtextextended(t.actor, 0) = hashtextextended(?, 0)";

        private final String mints;
        private final String refusals;

        By(String mints, String refusals) {
            this.mints = mints;
            this.refusals = refusals;
        }

        private static int places(String condition) {
            return (int) condition.chars().filter(c -> c == '?').count();
        }
    }

    /**
     * The filter of a timeline's rows.
     *
     * @param outcome {@code issued}, {@code failed}, {@code withheld}, {@code denied}, {@code
     *     rejected}, or {@code none} of a mint without outcome
     * @param from the start, inclusive
     * @param to the end, exclusive
     */
    public record Narrowed(
            Optional<String> tenant,
            Optional<String> outcome,
            Optional<Instant> from,
            Optional<Instant> to) {
        public static final Narrowed BY_NOTHING =
                new Narrowed(
                        Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        private String condition(String outcomes) {
            return tenant.map(_ -> " AND t.tenant = ?").orElse("")
                    + outcome.map(_ -> " AND " + outcomes + " = ?").orElse("")
                    + from.map(_ -> " AND t.mint_id >= audit.first_mint_id(?)").orElse("")
                    + to.map(_ -> " AND t.mint_id < audit.first_mint_id(?)").orElse("");
        }

        private List<Object> values() {
            return Stream.of(tenant, outcome, from, to).<Object>flatMap(Optional::stream).toList();
        }
    }

    /** The latest mints and refusals, each as a JSON object, the latest first. */
    public void timeline(By by, String what, Narrowed narrowed, int most, Consumer<String> each) {
        List<Object> values = new ArrayList<>(Collections.nCopies(By.places(by.mints), what));
        values.addAll(narrowed.values());
        values.addAll(Collections.nCopies(By.places(by.refusals), what));
        values.addAll(narrowed.values());
        read(Query.of(timeline(by, narrowed, most), values.toArray()), each);
    }

    /** The latest changes by a login, each as a JSON object of {@code audit.change}. */
    public void changes(String by, Narrowed narrowed, int most, Consumer<String> each) {
        List<Object> values = new ArrayList<>(List.of(by));
        narrowed.tenant().ifPresent(values::add);
        narrowed.from().ifPresent(values::add);
        narrowed.to().ifPresent(values::add);
        String sql =
                """
                SELECT to_jsonb(c)::text AS row FROM audit.change AS c
                 WHERE c.changed_by = ?%s%s%s
                 ORDER BY c.changed_at DESC, c.revision DESC LIMIT %d
                """
                        .formatted(
                                narrowed.tenant().isPresent() ? " AND c.tenant = ?" : "",
                                narrowed.from().isPresent() ? " AND c.changed_at >= ?" : "",
                                narrowed.to().isPresent() ? " AND c.changed_at < ?" : "",
                                most);
        read(Query.of(sql, values.toArray()), each);
    }

    /** Each of the two along its index, so neither is read to its end. */
    private static String timeline(By by, Narrowed narrowed, int most) {
        return """
        SELECT found.row
          FROM ((SELECT t.mint_id, to_jsonb(t)::text AS row FROM audit.mint AS t
                  WHERE t.%1$s ORDER BY t.mint_id DESC LIMIT %3$d)
                UNION ALL
                (SELECT t.mint_id, to_jsonb(t)::text AS row FROM audit.denial AS t
                  WHERE t.%2$s ORDER BY t.mint_id DESC LIMIT %3$d)) AS found
         ORDER BY found.mint_id DESC
         LIMIT %3$d
        """
                .formatted(
                        by.mints + narrowed.condition("coalesce(t.outcome, 'none')"),
                        by.refusals + narrowed.condition("t.kind"),
                        most);
    }

    private void read(Query query, Consumer<String> each) {
        connection.each(query, row -> each.accept(row.getString("row")));
    }

    @Override
    public void close() {
        connection.close();
    }
}
