package io.mintmark.console.pages.statements;

import io.mintmark.console.pages.statements.Statements.Statement;

import java.util.Optional;

/** Statements about requests for access, ready to be copied. */
public final class RequestStatements {
    private RequestStatements() {}

    /** Decides a request for access with a login, which its rule must name as an approver. */
    public static Statement decide(String request, Optional<String> revisions) {
        String column = revisions.isPresent() ? ", revisions" : "";
        String value = revisions.map(shown -> ", " + SqlText.of(shown)).orElse("");
        return new Statement(
                "Decide the request with a token or a login",
                "For its approvers.",
                """
                INSERT INTO broker.access_decision (request, verdict, note%3$s)
                VALUES (%1$s, 'approve', NULL%4$s); -- or 'refuse'
                -- with a token: mintmark-client approve %2$s\
                """
                        .formatted(SqlText.of(request), request, column, value));
    }

    /** Ends access that was granted, with a login that its rule names as an approver. */
    public static Statement withdraw(String request) {
        return new Statement(
                "Withdraw the access with a token or a login",
                "For its approvers.",
                """
                INSERT INTO broker.access_decision (request, verdict, note)
                VALUES (%1$s, 'withdraw', NULL);
                -- with a token: mintmark-client withdraw %2$s\
                """
                        .formatted(SqlText.of(request), request));
    }

    /** Signs off a break-glass grant, and ends it. */
    public static Statement signOff(long grant) {
        return new Statement(
                "Sign off this use of break glass",
                Statements.KEEPERS,
                """
                -- Replace <note> with a quoted text, such as a ticket. Until then this is not valid SQL.
                -- 'remove' ends the access, 'keep' leaves it until its end.
                INSERT INTO broker.grant_review (grant_id, verdict, note)
                VALUES (%d, 'remove', <note>);\
                """
                        .formatted(grant));
    }

    /** Lets approvers decide in the console, whose tokens have this issuer and audience. */
    public static Statement acceptConsole(String issuer, String client) {
        return new Statement(
                "Let people decide here",
                Statements.PLATFORM,
                """
                -- Replace <tenant> and <rule>. Such tokens decide requests, and can't mint.
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts, listed)
                VALUES ('<tenant>-console', '<tenant>', %s, ARRAY[%s], '{approver}', false);
                -- Name the approvers of a rule by it:
                INSERT INTO broker.access_approver (rule, idp, subject)
                VALUES (<rule>, '<tenant>-console', '<sub of their token>');\
                """
                        .formatted(SqlText.of(issuer), SqlText.of(client)));
    }
}
