package io.mintmark.console.pages.statements;

import io.mintmark.auditor.explain.Explanations.Actor;

import java.util.Optional;

/** The statement that writes a grant. */
final class NewGrant {
    private NewGrant() {}

    /**
     * A statement that writes a grant. The user who runs it adds the reason.
     *
     * @param idp as an SQL expression, like the subject
     * @param actor who is to act for the subject; empty for the subject alone
     */
    static String insert(
            String tenant, String idp, String subject, Optional<Actor> actor, String key) {
        String acting =
                actor.map(one ->
                                " %s, %s,".formatted(SqlText.of(one.idp()), SqlText.of(one.name())))
                        .orElse("");
        return """
        -- INSERT 0 0 means that this grant exists, perhaps disabled; nothing was written.
        INSERT INTO broker.subject_grant (tenant, idp, subject, key,%s valid_until, reason)
        VALUES (%s, %s, %s, %s,%s
                NULL, -- no end; for a limited time: now() + interval '8 hours'
                %s)
            ON CONFLICT DO NOTHING;\
        """
                .formatted(
                        actor.isPresent() ? " actor_idp, actor," : "",
                        SqlText.of(tenant),
                        idp,
                        subject,
                        SqlText.of(key),
                        acting,
                        Statements.REASON);
    }
}
