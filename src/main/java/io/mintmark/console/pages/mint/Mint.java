package io.mintmark.console.pages.mint;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.auditor.explain.Explanations.Actor;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.RowJson;
import io.mintmark.console.pages.mints.MintLine;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Everything on record about a mint or a refusal.
 *
 * @param line the fields that lists show
 * @param grantThen the row of the grant as it was when the decision was made
 * @param targetThen what the key named at its provider when the decision was made; none for a
 *     refusal, which doesn't record its state
 * @param targetNow what it names now
 */
public record Mint(
        MintLine line,
        List<Step> steps,
        Origin origin,
        Optional<GrantThen> grantThen,
        Optional<String> targetThen,
        Optional<String> targetNow) {

    /** A chain has the rows of all tenants: a place in it would count the others'. */
    private static final String STEPS =
            """
            SELECT e.step, e.kind, e.occurred_at, e.reason, e.detail, e.credential_id, e.issued_at,
                   e.expires_at, e.broker, encode(e.hash, 'hex') AS hash,
                   CASE WHEN (SELECT internal.viewer_sees_all()) THEN encode(e.prev_hash, 'hex') END AS prev_hash,
                   CASE WHEN (SELECT internal.viewer_sees_all()) THEN e.chain END AS chain,
                   CASE WHEN (SELECT internal.viewer_sees_all()) THEN e.seq END AS seq,
                   e.issuer, e.token_id, encode(e.token_hash, 'hex') AS token_hash,
                   e.claims::text AS claims, e.actor_idp, e.actor,
                   e.actor_claims::text AS actor_claims, host(e.client_address) AS client_address,
                   e.user_agent, e.provider, e.grant_id, e.grant_revision
              FROM audit.event AS e WHERE e.mint_id = cast(? AS uuid) ORDER BY e.step
            """;

    private static final String GRANT_THEN =
            """
            SELECT c.after::text AS grant_then, c.changed_by, c.changed_at,
                   (SELECT g.enabled FROM broker.subject_grant AS g
                     WHERE g.id = ? AND g.tenant = c.tenant) AS enabled_now
              FROM internal.grant_at(?, ?, ?) AS c
            """;

    private static final String TARGET_THEN =
            """
            SELECT internal.named_targets(y.target_setting || y.further_targets, y.key_settings,
                                          internal.row_at(?, 'key', ?, ?) -> 'settings') AS target
              FROM broker.provider_type AS y
             WHERE y.type = ?
            """;

    private static final String TARGET_NOW =
            """
            SELECT internal.named_targets(y.target_setting || y.further_targets, y.key_settings,
                                          k.settings) AS target
              FROM broker.key AS k
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
              JOIN broker.provider_type AS y ON y.type = a.type
             WHERE k.tenant = ? AND k.name = ?
            """;

    /**
     * A row of the log.
     *
     * @param kind as the log says it
     * @param chain its hash chain, and its position there
     * @param previousHash the hash of the row before it in the chain
     */
    record Step(
            String kind,
            Instant at,
            Optional<String> reason,
            Optional<String> detail,
            Optional<String> credentialId,
            Optional<Instant> issuedAt,
            Optional<Instant> expiresAt,
            String broker,
            Optional<String> chain,
            Optional<Long> seq,
            Optional<String> hash,
            Optional<String> previousHash) {
        /** The detail over several lines, if it is a JSON object. */
        Optional<String> detailAsJson() {
            return detail.flatMap(RowJson::object).map(RowJson::indented);
        }
    }

    /**
     * The grant as it was.
     *
     * @param row of {@code broker.subject_grant}
     * @param changedBy the login that last changed it before the mint
     * @param enabledNow whether it is enabled now; none if it was deleted
     */
    record GrantThen(
            JsonNode row, String changedBy, Instant changedAt, Optional<Boolean> enabledNow) {
        Optional<String> text(String member) {
            JsonNode value = row.path(member);
            boolean said =
                    !value.isNull() && !value.isMissingNode() && !value.toString().equals("{}");
            return said
                    ? Optional.of(value.isTextual() ? value.textValue() : value.toString())
                    : Optional.empty();
        }

        Optional<Instant> time(String member) {
            return text(member).map(RowJson::time);
        }

        /** Whether the grant was changed between its creation and the mint. */
        boolean wasChanged() {
            return !row.path("updated_at").equals(row.path("created_at"));
        }
    }

    /** The token, the client and the grant of a mint, which both rows share. */
    public record Origin(
            Optional<String> issuer,
            Optional<String> tokenId,
            Optional<String> tokenHash,
            Optional<String> claims,
            Optional<Actor> actor,
            Optional<String> clientAddress,
            Optional<String> userAgent,
            Optional<String> provider,
            Optional<Long> grantId,
            Optional<Long> grantRevision) {}

    /** The mint of an id, if the viewer may see it. */
    public static Optional<Mint> of(Connection connection, String id, Instant now)
            throws SQLException {
        List<Origin> origin = new ArrayList<>();
        List<Step> steps =
                Query.of(STEPS, id)
                        .list(
                                connection,
                                row -> {
                                    origin.add(origin(row));
                                    return step(row);
                                });
        List<MintLine> lines = MintLine.of(connection, List.of(id), now);
        if (steps.isEmpty() || lines.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(of(connection, lines.getFirst(), steps, origin.getFirst()));
    }

    private static Mint of(Connection connection, MintLine line, List<Step> steps, Origin origin)
            throws SQLException {
        return new Mint(
                line,
                steps,
                origin,
                grantThen(connection, line, origin),
                targetThen(connection, line, origin),
                line.tenant().isPresent() && line.key().isPresent()
                        ? Query.of(TARGET_NOW, line.tenant().get(), line.key().get())
                                .first(connection, row -> Query.text(row, "target"))
                                .flatMap(target -> target)
                        : Optional.empty());
    }

    private static Optional<String> targetThen(Connection connection, MintLine line, Origin origin)
            throws SQLException {
        return origin.grantRevision().isPresent()
                ? Query.of(
                                TARGET_THEN,
                                line.tenant().orElse(""),
                                line.key().orElse(""),
                                origin.grantRevision().get(),
                                line.providerType().orElse(""))
                        .first(connection, row -> Query.text(row, "target"))
                        .flatMap(target -> target)
                : Optional.empty();
    }

    private static Optional<GrantThen> grantThen(
            Connection connection, MintLine line, Origin origin) throws SQLException {
        if (origin.grantId().isEmpty() || line.tenant().isEmpty()) {
            return Optional.empty();
        }
        long id = origin.grantId().get();
        return Query.of(GRANT_THEN, id, line.tenant().get(), id, origin.grantRevision().orElse(0L))
                .first(
                        connection,
                        row ->
                                new GrantThen(
                                        RowJson.read(row.getString("grant_then")),
                                        row.getString("changed_by"),
                                        Query.time(row, "changed_at"),
                                        Optional.ofNullable(
                                                row.getObject("enabled_now", Boolean.class))));
    }

    private static Step step(ResultSet row) throws SQLException {
        return new Step(
                row.getString("kind"),
                Query.time(row, "occurred_at"),
                Query.text(row, "reason"),
                Query.text(row, "detail"),
                Query.text(row, "credential_id"),
                Query.timeIfAny(row, "issued_at"),
                Query.timeIfAny(row, "expires_at"),
                row.getString("broker"),
                Query.text(row, "chain"),
                Query.number(row, "seq"),
                Query.text(row, "hash"),
                Query.text(row, "prev_hash"));
    }

    private static Origin origin(ResultSet row) throws SQLException {
        return new Origin(
                Query.text(row, "issuer"),
                Query.text(row, "token_id"),
                Query.text(row, "token_hash"),
                Query.text(row, "claims"),
                Actor.of(row),
                Query.text(row, "client_address"),
                Query.text(row, "user_agent"),
                Query.text(row, "provider"),
                Query.number(row, "grant_id"),
                Query.number(row, "grant_revision"));
    }
}
