package io.mintmark.console.pages.reviews;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.GrantActor;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Enabled grants with what a reviewer needs, sorted by their ids.
 *
 * @param grants one more than {@link #shown} if there are more
 * @param owners whose grants are due, or are due next, on the first page
 * @param tenants to choose from
 * @param suggestions tenants that may have been meant, if there is none of the name
 */
public record ReviewsPage(
        Wanted wanted,
        List<Line> grants,
        GrantRequests approvals,
        ReviewOwners owners,
        List<String> tenants,
        Suggestions suggestions) {
    private static final int MOST = 50;

    /**
     * The maximum number of uses of a grant that are counted. A busy grant has millions, which
     * would take too long.
     */
    private static final int USES_COUNTED = 1_000;

    /** The grants are chosen before anything is counted. */
    private static final String GRANTS =
            """
            WITH chosen AS MATERIALIZED (
                 SELECT n.grant_id FROM internal.next_review AS n
                  WHERE n.enabled AND n.grant_id > ?
                    AND (n.is_old_enough AND n.due_at < now() OR ?)
                    AND (n.tenant = cast(? AS text) OR cast(? AS text) IS NULL)
                    AND (n.owner = cast(? AS text) OR cast(? AS text) IS NULL)
                  ORDER BY n.grant_id LIMIT ?)
            SELECT r.tenant, r.grant_id, r.key, r.subject, r.match, r.idp, r.actor_idp, r.actor_match,
                   r.actor, r.owner, r.reason, r.created_by, r.created_at, r.last_used_at, u.uses AS uses_90d,
                   r.lint, r.last_reviewed_at, r.last_reviewed_by, r.due, r.due_at
              FROM audit.grant_review AS r
              JOIN internal.uses_of_grants(ARRAY(SELECT c.grant_id FROM chosen AS c), now() - interval '90 days', ?) AS u
                ON u.grant_id = r.grant_id
             WHERE r.grant_id = ANY (ARRAY(SELECT c.grant_id FROM chosen AS c))
             ORDER BY r.grant_id
            """;

    /**
     * The requested grants.
     *
     * @param tenant only this tenant's; all that the viewer sees if empty
     * @param owner only this one's
     * @param all whether grants that are not due for review are included
     * @param after only grants with higher ids
     */
    record Wanted(Optional<String> tenant, Optional<String> owner, boolean all, long after) {
        static Wanted of(Parameters parameters) {
            return new Wanted(
                    parameters.text("tenant"),
                    parameters.text("owner"),
                    parameters.text("show").filter("all"::equals).isPresent(),
                    parameters.number("after").orElse(0L));
        }

        /** The query of an address for the same grants, from the first. */
        String query() {
            return "?show=%s&tenant=%s%s"
                    .formatted(
                            all ? "all" : "due",
                            Links.encoded(tenant.orElse("")),
                            owner.map(name -> "&owner=" + Links.encoded(name)).orElse(""));
        }
    }

    /** A row of {@code audit.grant_review}. */
    record Line(
            String tenant,
            long grantId,
            String key,
            String subject,
            String match,
            String idp,
            Optional<GrantActor> actor,
            Optional<String> owner,
            Optional<String> reason,
            String createdBy,
            Instant createdAt,
            Optional<Instant> lastUsedAt,
            long uses,
            Optional<String> lint,
            Optional<Instant> lastReviewedAt,
            Optional<String> lastReviewedBy,
            boolean due,
            Instant dueAt) {
        private static Line of(ResultSet row) throws SQLException {
            return new Line(
                    row.getString("tenant"),
                    row.getLong("grant_id"),
                    row.getString("key"),
                    row.getString("subject"),
                    row.getString("match"),
                    row.getString("idp"),
                    GrantActor.of(row),
                    Query.text(row, "owner"),
                    Query.text(row, "reason"),
                    row.getString("created_by"),
                    Query.time(row, "created_at"),
                    Query.timeIfAny(row, "last_used_at"),
                    row.getLong("uses_90d"),
                    Query.text(row, "lint"),
                    Query.timeIfAny(row, "last_reviewed_at"),
                    Query.text(row, "last_reviewed_by"),
                    row.getBoolean("due"),
                    Query.time(row, "due_at"));
        }

        /** The number of uses for a file, in digits without commas. */
        String usedInDigits() {
            return uses > USES_COUNTED ? "over " + USES_COUNTED : Long.toString(uses);
        }

        /** The number of uses of the grant in 90 days, counted up to a limit, in words. */
        String used() {
            return uses > USES_COUNTED
                    ? "over %s times".formatted(Frame.number(USES_COUNTED))
                    : Frame.count(uses, "time");
        }
    }

    /** The page at {@code /reviews}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return View.of(
                "Reviews", "reviews/reviews", of(connection, Wanted.of(new Parameters(request))));
    }

    private static ReviewsPage of(Connection connection, Wanted wanted) throws SQLException {
        Optional<String> tenant = wanted.tenant();
        List<Line> grants = find(connection, wanted, MOST + 1);
        return new ReviewsPage(
                wanted,
                grants,
                GrantRequests.of(connection, grants.stream().map(Line::grantId).toList()),
                wanted.after() > 0 ? ReviewOwners.NONE : ReviewOwners.of(connection, tenant),
                Suggestions.picks(connection).tenants(),
                tenant.isPresent()
                        ? Suggestions.ofTenant(connection, tenant.get())
                        : Suggestions.NONE);
    }

    /** The first grants, up to a maximum. */
    static List<Line> find(Connection connection, Wanted wanted, int most) throws SQLException {
        String tenant = wanted.tenant().orElse(null);
        String owner = wanted.owner().orElse(null);
        return Query.of(
                        GRANTS,
                        wanted.after(),
                        wanted.all(),
                        tenant,
                        tenant,
                        owner,
                        owner,
                        most,
                        USES_COUNTED + 1)
                .list(connection, Line::of);
    }

    List<Line> shown() {
        return grants.size() > MOST ? grants.subList(0, MOST) : grants;
    }

    /** The address of the grants after those shown. */
    Optional<String> next() {
        return grants.size() > MOST
                ? Optional.of("/reviews" + wanted.query() + "&after=" + shown().getLast().grantId())
                : Optional.empty();
    }

    List<Statements.Statement> statements() {
        return shown().isEmpty()
                ? List.of()
                : List.of(Statements.review(shown().stream().map(Line::grantId).toList()));
    }
}
