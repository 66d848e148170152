package io.mintmark.console.pages.approvals;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Who may ask for a key, and who approves.
 *
 * @param subject that may ask, or a glob
 * @param approvals how many must approve in each step; with break glass nobody has to
 * @param people how many of them must be people
 * @param consent whether the subject alone decides
 * @param reasons the pattern that a reason must match
 * @param maxAccess the longest access, in seconds
 * @param approvers in words: logins, and subjects with their identity providers
 */
public record RuleLine(
        long id,
        String tenant,
        String key,
        String idp,
        String subject,
        boolean glob,
        Optional<String> claims,
        int approvals,
        long maxAccess,
        boolean breakGlass,
        boolean endCredentials,
        boolean endAccess,
        int people,
        boolean consent,
        Optional<String> reasons,
        Optional<String> hint,
        boolean enabled,
        List<String> approvers) {
    public static final int MOST = 50;

    private static final String SELECTED =
            """
            SELECT r.id, r.tenant, r.key, r.idp, r.subject, r.match = 'glob' AS glob, nullif(r.claims, '{}')::text AS claims,
                   r.approvals, r.max_access, r.break_glass, r.end_credentials, r.end_access, r.people, r.consent, r.reason_pattern, r.reason_hint, r.enabled,
                   ARRAY(SELECT CASE WHEN a.step > 1 OR EXISTS (SELECT FROM broker.access_approver AS o WHERE o.rule = r.id AND o.step > 1)
                                     THEN 'step ' || a.step || ': ' ELSE '' END
                                || CASE WHEN a.program THEN 'program ' || coalesce('(up to ' || a.max_access || ' s) ', '') ELSE '' END
                                || coalesce(a.role_name, a.subject || ' of ' || a.idp
                                         || CASE WHEN a.claims = '{}' THEN '' ELSE ' with ' || a.claims::text END)
                           FROM broker.access_approver AS a WHERE a.rule = r.id ORDER BY a.step, a.id LIMIT 20) AS approvers
              FROM broker.access_rule AS r
            """;

    private static final String RULES =
            SELECTED
                    + """
                    WHERE r.tenant = ? AND (r.key = cast(? AS text) OR cast(? AS text) IS NULL)
                    ORDER BY r.key, r.id LIMIT ?
                    """;

    private static final String OF_REQUEST =
            SELECTED
                    + "WHERE r.id = (SELECT q.rule FROM broker.access_request AS q WHERE q.id ="
                    + " cast(? AS uuid))";

    private static final String FOR_SUBJECT =
            SELECTED
                    + """
                    WHERE r.tenant = ? AND r.key = ? AND r.idp = ? AND r.enabled
                      AND CASE r.match WHEN 'glob' THEN internal.glob_matches(r.subject, ?) ELSE r.subject = ? END
                    ORDER BY r.id LIMIT ?
                    """;

    /**
     * The first rules of a tenant, or of one of its keys; one more than are shown if there are
     * more.
     */
    public static List<RuleLine> of(Connection connection, String tenant, Optional<String> key)
            throws SQLException {
        String name = key.orElse(null);
        return Query.of(RULES, tenant, name, name, MOST + 1).list(connection, RuleLine::of);
    }

    /** The rule that a request was made by, if it still exists. */
    public static Optional<RuleLine> ofRequest(Connection connection, String request)
            throws SQLException {
        return Query.of(OF_REQUEST, request).first(connection, RuleLine::of);
    }

    /** The rules by which a subject may ask for a key, if their claims allow it. */
    public static List<RuleLine> forSubject(
            Connection connection, String tenant, String key, String idp, String subject)
            throws SQLException {
        return Query.of(FOR_SUBJECT, tenant, key, idp, subject, subject, MOST)
                .list(connection, RuleLine::of);
    }

    private static RuleLine of(ResultSet row) throws SQLException {
        return new RuleLine(
                row.getLong("id"),
                row.getString("tenant"),
                row.getString("key"),
                row.getString("idp"),
                row.getString("subject"),
                row.getBoolean("glob"),
                Query.text(row, "claims"),
                row.getInt("approvals"),
                row.getLong("max_access"),
                row.getBoolean("break_glass"),
                row.getBoolean("end_credentials"),
                row.getBoolean("end_access"),
                row.getInt("people"),
                row.getBoolean("consent"),
                Query.text(row, "reason_pattern"),
                Query.text(row, "reason_hint"),
                row.getBoolean("enabled"),
                Query.texts(row, "approvers"));
    }

    /**
     * The terms of an access in words: the approvals that it needs, its longest duration, and when
     * it ends early.
     */
    public String terms() {
        return needs()
                + ", for up to "
                + Frame.seconds(maxAccess)
                + reasons.map(pattern -> ", for a reason like " + pattern).orElse("")
                + hint.map(" (%s)"::formatted).orElse("")
                + (endCredentials ? "; an early end also ends its credentials" : "")
                + (endAccess ? "; a change of the rule ends its access" : "");
    }

    private String needs() {
        if (consent) {
            return "consent of the subject to its agent";
        } else if (breakGlass) {
            return "at once, and another person signs it off";
        }
        boolean isInSteps = approvers.stream().anyMatch(one -> one.startsWith("step "));
        return Frame.count(approvals, "approval")
                + (isInSteps ? " in each step" : "")
                + (people == 1 ? "" : ", %d of people".formatted(people));
    }
}
