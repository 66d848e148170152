package io.mintmark.console.pages.statements;

import static java.util.stream.Collectors.joining;

import io.mintmark.console.pages.statements.Statements.Statement;

import java.util.List;

/** A grant with wider conditions on claims, so that it also accepts those that a token had. */
public final class WidenedGrant {
    private WidenedGrant() {}

    /**
     * Adds to what the grant accepts.
     *
     * @param claims the changed conditions, as JSON objects
     */
    public static Statement statement(String tenant, long grant, List<String> claims) {
        return new Statement(
                "Let grant %d accept these claims, too".formatted(grant),
                "For the tenant's admins and platform admins.",
                """
                -- Replace <reason> with a quoted text, such as a ticket. Until then this is not valid SQL.
                -- Every token of the grant's subjects that has these claims may then mint the key.
                UPDATE broker.subject_grant
                   SET claims = claims%s,
                       reason = left(concat_ws('; ', reason, <reason>), 1000)
                 WHERE tenant = %s AND id = %d;\
                """
                        .formatted(
                                claims.stream()
                                        .map(claim -> " || " + SqlText.of(claim))
                                        .collect(joining()),
                                SqlText.of(tenant),
                                grant));
    }
}
