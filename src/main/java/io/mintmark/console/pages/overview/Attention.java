package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.lint.LintWarning;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The items that may need attention.
 *
 * @param reviews grants that are due for review
 * @param unrevoked credentials that should have ended and that the broker still tries to end
 * @param lint the tenants with most lint warnings
 * @param endings what stops working soon
 * @param requests for access
 */
record Attention(
        Reviews reviews,
        Unrevoked unrevoked,
        Lint lint,
        List<Ending> endings,
        OpenRequests requests) {
    private static final int GRANTS_READ = 5_000;
    private static final int COUNTED = 1_000;

    /**
     * The maximum number of keys whose lint warnings are computed. With more keys, only the
     * warnings that triggers stored are counted.
     */
    private static final int KEYS_LINTED = 500;

    private static final String REVIEWS =
            """
            SELECT r.due, r.counted, r.first_due, g.id, g.tenant, g.key, g.subject
              FROM internal.reviews_due(?) AS r LEFT JOIN broker.subject_grant AS g ON g.id = r.first_grant
            """;

    private static final String UNREVOKED =
            """
            SELECT e.mint_id, e.tenant, e.key, e.provider_type, e.due, e.tries, e.last_reason
              FROM internal.overdue_ends(?) AS e ORDER BY e.due
            """;

    private static final String LINT =
            """
            SELECT l.tenant, l.warnings FROM internal.lint_by_tenant(?, ?) AS l
             ORDER BY l.warnings DESC, l.tenant
            """;

    private static final String LINTS_KEYS = "SELECT internal.lints_keys(?)";

    /**
     * A number.
     *
     * @param all whether the number is exact
     */
    record Count(long number, boolean all) {
        private static Count of(long found) {
            return new Count(Math.min(found, COUNTED), found <= COUNTED);
        }

        static String limit() {
            return Frame.number(COUNTED);
        }

        String words() {
            return (all ? "" : "over ") + Frame.number(number);
        }
    }

    /**
     * Grants that are due for review.
     *
     * @param first the one that has been due for longest, if all were read
     */
    record Reviews(Count count, Optional<First> first) {
        /** A grant, and when its review was due. */
        record First(long grant, String tenant, String key, String subject, Instant due) {
            String words() {
                return "%s for %s of %s".formatted(subject, key, tenant);
            }

            String address() {
                return Links.grant(tenant, grant);
            }
        }

        private static Reviews of(ResultSet row) throws SQLException {
            long due = row.getLong("due");
            boolean all = row.getBoolean("counted");
            return new Reviews(
                    new Count(all ? due : Math.max(due - 1, 0), all),
                    all && due > 0
                            ? Optional.of(
                                    new First(
                                            row.getLong("id"),
                                            row.getString("tenant"),
                                            row.getString("key"),
                                            row.getString("subject"),
                                            Query.time(row, "first_due")))
                            : Optional.empty());
        }
    }

    /**
     * The queue of the broker.
     *
     * @param tried those that a try failed for
     * @param lines the oldest
     */
    record Unrevoked(Count count, long tried, List<Line> lines) {
        private static final int SHOWN = 5;

        record Line(
                String mint,
                String tenant,
                Optional<String> key,
                String type,
                Instant due,
                long tries,
                Optional<String> failure) {}

        private static Unrevoked of(List<Line> found) {
            return new Unrevoked(
                    Count.of(found.size()),
                    found.stream().filter(line -> line.tries() > 0).count(),
                    found.stream().limit(SHOWN).toList());
        }

        Optional<Instant> since() {
            return lines.stream().map(Line::due).findFirst();
        }
    }

    /**
     * Requests for access.
     *
     * @param waiting for the viewer's decision
     * @param pending all that are not decided
     * @param breakGlasses without sign-off
     */
    record OpenRequests(Oldest waiting, long pending, Oldest breakGlasses) {
        private static final String PENDING =
                """
                SELECT count(*) FROM broker.access_request AS q
                 WHERE q.status = 'pending' AND q.expires_at > now()
                """;

        /** The number of requests, and the oldest of them. */
        record Oldest(Count count, Optional<Request> request) {
            /** A request for a key of a tenant. */
            record Request(String id, String tenant, String key, String subject, Instant at) {}

            private static Oldest of(Connection connection, String which) throws SQLException {
                return Query.of(
                                """
                                SELECT q.id, q.tenant, q.key, q.subject, q.requested_at,
                                       count(*) OVER () AS number
                                  FROM broker.access_request AS q
                                 WHERE %s
                                 ORDER BY q.requested_at, q.id
                                 LIMIT 1
                                """
                                        .formatted(which))
                        .first(
                                connection,
                                row ->
                                        new Oldest(
                                                Count.of(row.getLong("number")),
                                                Optional.of(
                                                        new Request(
                                                                row.getString("id"),
                                                                row.getString("tenant"),
                                                                row.getString("key"),
                                                                row.getString("subject"),
                                                                Query.time(row, "requested_at")))))
                        .orElse(new Oldest(Count.of(0), Optional.empty()));
            }
        }

        private static OpenRequests of(Connection connection) throws SQLException {
            return new OpenRequests(
                    Oldest.of(
                            connection,
                            "q.id = ANY (ARRAY(SELECT internal.waiting_for_viewer(%d)))"
                                    .formatted(COUNTED + 1)),
                    Query.of(PENDING).first(connection, row -> row.getLong(1)).orElseThrow(),
                    Oldest.of(connection, "q.break_glass AND q.signed_off_by IS NULL"));
        }
    }

    /**
     * Lint warnings, and the tenants with most of them.
     *
     * @param shared those about rows of no tenant
     * @param ofKeys whether those of keys are among them; not with more keys than are looked at
     */
    record Lint(Count count, List<OfTenant> tenants, List<LintWarning> shared, boolean ofKeys) {
        record OfTenant(Optional<String> tenant, long number) {}

        /**
         * The location in words, such as "in 3 tenants"; some warnings may be about rows without a
         * tenant.
         */
        String where() {
            return tenants.isEmpty()
                    ? "in rows without a tenant"
                    : "%sin %s%s"
                            .formatted(
                                    count.all() ? "" : "the first %s ".formatted(Count.limit()),
                                    Frame.count(tenants.size(), "tenant"),
                                    shared.isEmpty() ? "" : " and in rows without a tenant");
        }
    }

    static Attention of(Connection connection) throws SQLException {
        return new Attention(
                Query.of(REVIEWS, GRANTS_READ).first(connection, Reviews::of).orElseThrow(),
                unrevoked(connection),
                lint(connection),
                Ending.soon(connection),
                OpenRequests.of(connection));
    }

    private static Unrevoked unrevoked(Connection connection) throws SQLException {
        return Unrevoked.of(
                Query.of(UNREVOKED, COUNTED + 1)
                        .list(
                                connection,
                                row ->
                                        new Unrevoked.Line(
                                                row.getString("mint_id"),
                                                row.getString("tenant"),
                                                Query.text(row, "key"),
                                                row.getString("provider_type"),
                                                Query.time(row, "due"),
                                                row.getLong("tries"),
                                                Query.text(row, "last_reason"))));
    }

    private static Lint lint(Connection connection) throws SQLException {
        List<Lint.OfTenant> tenants =
                Query.of(LINT, KEYS_LINTED, COUNTED + 1)
                        .list(
                                connection,
                                row ->
                                        new Lint.OfTenant(
                                                Query.text(row, "tenant"),
                                                row.getLong("warnings")));
        return new Lint(
                Count.of(tenants.stream().mapToLong(Lint.OfTenant::number).sum()),
                tenants.stream().filter(one -> one.tenant().isPresent()).toList(),
                tenants.stream().anyMatch(one -> one.tenant().isEmpty())
                        ? LintWarning.shared(connection)
                        : List.of(),
                Query.of(LINTS_KEYS, KEYS_LINTED)
                        .first(connection, row -> row.getBoolean(1))
                        .orElseThrow());
    }
}
