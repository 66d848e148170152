package io.mintmark.console.pages.mint;

import io.mintmark.auditor.explain.Explanations.Actor;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Grants that were written for what a refusal lacked one for, as they are now.
 *
 * @param inForce one whose claims the token held
 * @param disabled one of the subject's own that would give the key if it were enabled
 * @param actor of the request, if it has one
 */
public record WrittenGrants(
        Optional<Long> inForce, Optional<Long> disabled, Optional<Actor> actor) {
    /** Grants of the subject that are looked through. */
    private static final int LOOKED_AT = 100;

    private static final String WRITTEN =
            """
            WITH written AS MATERIALIZED (
                 SELECT g.id, g.tenant, g.idp, g.match, g.enabled, g.valid_until, g.claims
                   FROM broker.subject_grant AS g
                  WHERE g.id = ANY (ARRAY(SELECT f.id FROM internal.grants_for(?, ?) AS f (id)))
                    AND g.tenant = ? AND g.idp = ? AND g.key = ?
                    AND internal.is_for_actor(g, cast(? AS text), cast(? AS text))
                    AND internal.claims_met(g.actor_claims, coalesce(cast(? AS jsonb), '{}'))
                    AND internal.is_in_networks(g.networks, cast(? AS inet))),
                 held AS MATERIALIZED (
                 SELECT w.*, internal.claims_met(p.required_claims, t.claims) AS is_taken
                   FROM written AS w
                  CROSS JOIN (SELECT cast(? AS jsonb) AS claims) AS t
                   JOIN broker.identity_provider AS p ON p.tenant = w.tenant AND p.name = w.idp
                  WHERE internal.claims_met(w.claims, t.claims))
            SELECT (SELECT min(m.grant_id) FROM broker.who_can_mint AS m
                     WHERE m.grant_id = ANY (ARRAY(SELECT h.id FROM held AS h WHERE h.is_taken))) AS in_force,
                   (SELECT min(h.id) FROM held AS h
                     WHERE h.match = 'exact' AND NOT h.enabled
                       AND (h.valid_until IS NULL OR h.valid_until > now())) AS disabled
            """;

    /** Finds grants for a refusal with a subject, from the subject's recorded claims. */
    public static WrittenGrants of(Connection connection, Mint refusal) throws SQLException {
        MintLine line = refusal.line();
        Optional<Actor> actor = refusal.origin().actor();
        return Query.of(
                        WRITTEN,
                        line.subject().orElse(""),
                        LOOKED_AT,
                        line.tenant().orElse(""),
                        line.idp().orElse(""),
                        line.key().orElse(""),
                        actor.map(Actor::idp),
                        actor.map(Actor::name),
                        actor.map(Actor::claims),
                        refusal.origin().clientAddress(),
                        GivenClaims.recorded(refusal.origin().claims().orElse("{}")).json())
                .first(
                        connection,
                        row ->
                                new WrittenGrants(
                                        Query.number(row, "in_force"),
                                        Query.number(row, "disabled"),
                                        actor))
                .orElseThrow();
    }

    /** The statement that would allow a denied request; empty if a grant allows it by now. */
    public Optional<Statements.Statement> remedy(MintLine line) {
        if (inForce.isPresent()) {
            return Optional.empty();
        }
        String tenant = line.tenant().orElse("");
        return Optional.of(
                disabled.map(grant -> Statements.enable(tenant, grant))
                        .orElseGet(() ->
                                Statements.give(
                                        tenant,
                                        line.idp().orElse(""),
                                        line.subject().orElse(""),
                                        actor,
                                        line.key().orElse(""))));
    }
}
