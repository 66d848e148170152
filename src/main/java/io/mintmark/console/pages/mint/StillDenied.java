package io.mintmark.console.pages.mint;

import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Explanations.Actor;
import io.mintmark.auditor.explain.Explanations.Question;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.mints.MintLine;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Why a request that was denied because no grant allowed it would be denied now, too.
 *
 * @param key the explanation for the requested key; none if the key no longer exists
 */
record StillDenied(Optional<Row> key) {
    /** An explanation needs the identity providers of the request's tokens. */
    private static final String EXISTING =
            """
            SELECT count(DISTINCT p.name) FROM broker.identity_provider AS p
             WHERE p.name = ? OR p.name = cast(? AS text)
            """;

    /** Explains the denial by the present configuration; empty if that would allow the request. */
    static Optional<StillDenied> of(Connection connection, Mint denial) throws SQLException {
        MintLine line = denial.line();
        Optional<Actor> actor = denial.origin().actor();
        if (!MintPage.isExplicable(line) || !areProvidersKnown(connection, line, actor)) {
            return Optional.empty();
        }
        Question question =
                new Question(
                        line.idp().orElse(""),
                        line.subject().orElse(""),
                        GivenClaims.recorded(denial.origin().claims().orElse("{}")).json(),
                        actor,
                        Optional.empty(),
                        denial.origin().clientAddress());
        Optional<Row> key =
                new Explanations(connection)
                        .explain(question).stream()
                                .filter(row -> line.key().equals(Optional.of(row.key())))
                                .findFirst();
        return key.filter(Row::granted).isPresent()
                ? Optional.empty()
                : Optional.of(new StillDenied(key));
    }

    private static boolean areProvidersKnown(
            Connection connection, MintLine line, Optional<Actor> actor) throws SQLException {
        String idp = line.idp().orElse("");
        long needed = actor.filter(one -> !one.idp().equals(idp)).isPresent() ? 2 : 1;
        return Query.of(EXISTING, idp, actor.map(Actor::idp))
                        .first(connection, row -> row.getLong(1))
                        .orElse(0L)
                == needed;
    }
}
