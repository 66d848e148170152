package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What happened to a request for access.
 *
 * @param at when; none if that is no longer known
 * @param kind asked, approve, refuse, withdraw, granted, withdrawn, lapsed, void, ended, minted or
 *     signed off
 * @param who did it; none for what happens by itself
 * @param login the SQL login of that person
 * @param note that they wrote
 * @param number of seconds of access, or of mints; of a decision, 1 if a program made it
 */
record RequestEvent(
        Optional<Instant> at,
        String kind,
        Optional<String> who,
        Optional<String> login,
        Optional<String> note,
        long number) {

    /**
     * A status has no time of its own, so that of a request that was withdrawn or became void is
     * looked up among the latest changes of its tenant.
     */
    private static final String ALL =
            """
            WITH request AS (
                 SELECT q.*, g.created_at AS granted_at, g.enabled AS grant_enabled, g.valid_until, g.updated_at AS grant_updated_at,
                        g.updated_by AS grant_updated_by
                   FROM broker.access_request AS q LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
                  WHERE q.id = cast(? AS uuid)),
                 event (place, at, kind, who, login, note, number) AS (
                 SELECT 1, q.requested_at, 'asked', q.subject, NULL, q.reason, q.access::bigint FROM request AS q
                 UNION ALL
                 SELECT 2, d.created_at, d.verdict, coalesce(d.subject, d.decided_by), d.decided_by, d.note, d.program::int
                   FROM request AS q JOIN broker.access_decision AS d ON d.request = q.id
                 UNION ALL
                 SELECT 3, q.granted_at, 'granted', NULL, NULL, NULL, q.grant_id FROM request AS q WHERE q.granted_at IS NOT NULL
                 UNION ALL
                 SELECT 4, (SELECT min(e.occurred_at) FROM audit.event AS e WHERE e.grant_id = q.grant_id AND e.step = 1), 'minted',
                        NULL, NULL, NULL, 0
                   FROM request AS q
                  WHERE EXISTS (SELECT FROM audit.event AS e WHERE e.grant_id = q.grant_id AND e.step = 1)
                 UNION ALL
                 SELECT 5, CASE q.status WHEN 'lapsed' THEN q.expires_at ELSE
                           (SELECT min(c.changed_at)
                              FROM (SELECT n.* FROM audit.config_change AS n WHERE n.tenant = q.tenant
                                     ORDER BY n.tenant DESC, n.revision DESC LIMIT 5000) AS c
                             WHERE c.table_name = 'access_request' AND c.after ->> 'id' = q.id::text
                               AND c.after ->> 'status' = q.status) END,
                        q.status, NULL, NULL, NULL, 0
                   FROM request AS q WHERE q.status IN ('lapsed', 'withdrawn', 'void') AND q.withdrawn_by IS NULL
                 UNION ALL
                 SELECT 6, CASE WHEN q.grant_enabled THEN q.valid_until ELSE q.grant_updated_at END, 'ended', NULL,
                        CASE WHEN NOT q.grant_enabled AND q.grant_updated_by <> 'broker' THEN q.grant_updated_by END, NULL, 0
                   FROM request AS q
                  WHERE q.status = 'granted' AND (NOT q.grant_enabled OR q.valid_until <= now())
                 UNION ALL
                 SELECT 7, q.signed_off_at, 'signed off', q.signed_off_by, q.signed_off_by, NULL, 0
                   FROM request AS q WHERE q.signed_off_by IS NOT NULL)
            SELECT v.at, v.kind, v.who, v.login, v.note, v.number FROM event AS v ORDER BY v.at NULLS LAST, v.place
            """;

    /** All events of the request, in their order. */
    static List<RequestEvent> all(Connection connection, AccessRequestLine line)
            throws SQLException {
        return Query.of(ALL, line.id()).list(connection, RequestEvent::of);
    }

    private static RequestEvent of(ResultSet row) throws SQLException {
        return new RequestEvent(
                Query.timeIfAny(row, "at"),
                row.getString("kind"),
                Query.text(row, "who"),
                Query.text(row, "login"),
                Query.text(row, "note"),
                row.getLong("number"));
    }

    /** The event as words that follow a person's name, or as a sentence without one. */
    String words() {
        return switch (kind) {
            case "asked" -> "asked for " + Frame.seconds(number);
            case "approve" -> "approved" + asProgram();
            case "refuse" -> "refused" + asProgram();
            case "withdraw" -> "withdrew the access" + asProgram();
            case "granted" -> "Granted";
            case "minted" -> "First minted";
            case "withdrawn" -> "Withdrawn by the requester";
            case "lapsed" -> "Lapsed: not decided in time";
            case "void" -> "Void: its rule was changed or disabled";
            case "ended" -> login.map(by -> "Access ended by " + by).orElse("Access ended");
            default -> kind;
        };
    }

    private String asProgram() {
        return number > 0 ? " as a program" : "";
    }

    /** The colour of the event's mark. */
    @Nullable String colour() {
        return switch (kind) {
            case "refuse", "withdraw" -> "bad";
            case "lapsed", "void", "withdrawn" -> "doubtful";
            default -> null;
        };
    }
}
