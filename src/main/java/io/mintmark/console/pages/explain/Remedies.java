package io.mintmark.console.pages.explain;

import io.mintmark.auditor.explain.Explanations.Condition;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.console.pages.mint.Mint;
import io.mintmark.console.pages.mint.WrittenGrants;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.statements.Statements;
import io.mintmark.console.pages.statements.Statements.Statement;
import io.mintmark.console.pages.statements.WidenedGrant;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Statements that would allow what is denied now. */
final class Remedies {
    private static final int MOST = 5;

    /** The conditions of {@code broker.explain} that a grant for the subject meets. */
    private static final Set<String> LACKS_A_GRANT = Set.of("a grant", "subject");

    /** The condition that fails if the subject is blocked. */
    private static final String BLOCKED = "blocked";

    private Remedies() {}

    /** Statements for some of the keys that are denied to a token. */
    static List<Statement> of(ExplainedKeys keys, String tenant) {
        return keys.rows().stream()
                .filter(row -> !row.granted())
                .flatMap(row ->
                        widened(keys, row, tenant).or(() -> given(keys, row, tenant)).stream())
                .limit(MOST)
                .toList();
    }

    /**
     * Statements for a request that was denied because no grant allowed it; none if a grant gives
     * the key by now.
     */
    static List<Statement> of(Connection connection, Mint mint, ExplainedKeys now)
            throws SQLException {
        MintLine line = mint.line();
        Optional<Row> denied =
                now.row(line.key())
                        .filter(_ -> line.lackedGrant())
                        .filter(row -> !row.granted())
                        .filter(row -> !row.condition().equals(Optional.of(BLOCKED)));
        return denied.isEmpty()
                ? List.of()
                : Stream.concat(
                                widened(now, denied.get(), line.tenant().orElse("")).stream(),
                                WrittenGrants.of(connection, mint).remedy(line).stream())
                        .toList();
    }

    private static Optional<Statement> given(ExplainedKeys keys, Row row, String tenant) {
        return row.condition()
                .filter(LACKS_A_GRANT::contains)
                .map(_ ->
                        Statements.give(
                                tenant, keys.idp(), keys.subject(), Optional.empty(), row.key()));
    }

    /** A wider grant, if only conditions on claims that the token has are unmet. */
    private static Optional<Statement> widened(ExplainedKeys keys, Row row, String tenant) {
        List<Condition> unmet =
                keys.conditions(row).stream().filter(condition -> !condition.met()).toList();
        List<String> claims = unmet.stream().flatMap(one -> one.widened().stream()).toList();
        boolean onlyClaims =
                !unmet.isEmpty()
                        && claims.size() == unmet.size()
                        && row.condition().equals(Optional.of(unmet.getFirst().name()));
        return row.grantId()
                .filter(_ -> onlyClaims)
                .map(grant -> WidenedGrant.statement(tenant, grant, claims));
    }
}
