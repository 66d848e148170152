package io.mintmark.auditor.explain;

import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Runs {@code broker.explain} with the permissions of the user's login. */
public final class Explanations implements AutoCloseable {
    private static final String PROVIDERS =
            """
            SELECT p.name FROM broker.identity_provider AS p
             WHERE p.issuer = ? AND p.audiences && cast(? AS text[]) ORDER BY p.name
            """;
    private static final String NEARLY =
            """
            SELECT p.name, p.issuer, array_to_string(p.audiences, ', ') AS audiences
              FROM broker.identity_provider AS p
             WHERE internal.nearly(p.issuer) = internal.nearly(?)
             ORDER BY p.issuer <> ?, p.name LIMIT 5
            """;
    private static final String EXPLAIN =
            """
            SELECT e.key, e.granted, e.grant_id, e.condition, e.expected, e.seen
              FROM broker.explain(?, ?, cast(? AS jsonb), cast(? AS text), cast(? AS text),
                                  cast(? AS jsonb), at => coalesce(cast(? AS timestamptz), now()),
                                  address => cast(? AS inet)) AS e
            """;

    /**
     * The decision to explain.
     *
     * @param claims a JSON object
     * @param actor who acted for the subject, if anybody did
     * @param at when; now if it isn't said
     * @param address the client's; empty if it isn't known
     */
    public record Question(
            String idp,
            String subject,
            String claims,
            Optional<Actor> actor,
            Optional<Instant> at,
            Optional<String> address) {}

    /**
     * Who acts for a subject.
     *
     * @param claims a JSON object
     */
    public record Actor(String idp, String name, String claims) {
        /**
         * Reads the actor from {@code actor_idp}, {@code actor} and {@code actor_claims} of a row
         * of the log.
         */
        public static Optional<Actor> of(ResultSet row) throws SQLException {
            Optional<String> name = Query.text(row, "actor");
            return name.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Actor(
                                    row.getString("actor_idp"),
                                    name.get(),
                                    GivenClaims.recorded(
                                                    Query.text(row, "actor_claims").orElse("{}"))
                                            .json()));
        }
    }

    /** A key, and whether it is granted; where it isn't, the first condition that failed. */
    public record Row(
            String key,
            boolean granted,
            Optional<Long> grantId,
            Optional<String> condition,
            Optional<String> expected,
            Optional<String> seen) {}

    private static final String CONDITIONS =
            """
            SELECT g.id AS grant_id, c.condition, c.met, c.expected, c.seen, c.widened::text AS widened
              FROM unnest(cast(? AS bigint[])) WITH ORDINALITY AS g (id, place)
             CROSS JOIN LATERAL internal.explain_grant(g.id, ?, cast(? AS jsonb), now(), cast(? AS inet))
                        WITH ORDINALITY AS c (condition, met, expected, seen, widened, place)
             ORDER BY g.place, c.place
            """;

    /**
     * A condition of a grant.
     *
     * @param widened the condition on a claim as JSON, with what was seen beside what was expected;
     *     only for a claim that isn't met and that the token has
     */
    public record Condition(
            long grant,
            String name,
            boolean met,
            Optional<String> expected,
            Optional<String> seen,
            Optional<String> widened) {}

    private static final String SESSION = "-c default_transaction_read_only=on";

    private final Connection connection;

    /**
     * Logs in.
     *
     * @throws QuestionFailed with PostgreSQL's reason
     */
    public Explanations(DatabaseLogin login) {
        try {
            connection = login.source("mintmark explain", SESSION).getConnection();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    /**
     * Uses another component's connection and its permissions.
     *
     * @param connection to be closed by its owner
     */
    public Explanations(Connection connection) {
        this.connection = connection;
    }

    /** The identity providers that an issuer and one of several audiences lead to. */
    public List<String> identityProviders(String issuer, List<String> audiences) {
        return asked(Query.of(PROVIDERS, issuer, audiences), row -> row.getString("name"));
    }

    /**
     * An identity provider that a token is nearly for.
     *
     * @param audiences separated by commas
     */
    public record Neighbour(String idp, String issuer, String audiences) {}

    /** Identity providers of this issuer, or of one that differs by case or a slash at its end. */
    public List<Neighbour> nearly(String issuer) {
        return asked(
                Query.of(NEARLY, issuer, issuer),
                row ->
                        new Neighbour(
                                row.getString("name"),
                                row.getString("issuer"),
                                row.getString("audiences")));
    }

    /** One row for each key of the tenant. */
    public List<Row> explain(Question question) {
        return asked(
                Query.of(
                        EXPLAIN,
                        question.idp(),
                        question.subject(),
                        question.claims(),
                        question.actor().map(Actor::idp),
                        question.actor().map(Actor::name),
                        question.actor().map(Actor::claims),
                        question.at().map(Instant::toString),
                        question.address()),
                Explanations::row);
    }

    /** All conditions of grants as they are now, for a token of their identity provider. */
    public List<Condition> conditions(List<Long> grants, Question question) {
        return asked(
                Query.of(
                        CONDITIONS,
                        grants.stream().map(Object::toString).toList(),
                        question.subject(),
                        question.claims(),
                        question.address()),
                row ->
                        new Condition(
                                row.getLong("grant_id"),
                                row.getString("condition"),
                                row.getBoolean("met"),
                                Query.text(row, "expected"),
                                Query.text(row, "seen"),
                                Query.text(row, "widened")));
    }

    /**
     * The decisions on a request, by its {@code X-Request-ID}, in the order of the requested keys;
     * empty if the request isn't on record.
     */
    public List<Past> past(String requestId) {
        return asked(PastRequests.past(requestId), PastRequests::past);
    }

    /** The latest changes of a tenant's configuration after a revision, the last one first. */
    public List<Past.Change> changes(String tenant, long since, int atMost) {
        return asked(PastRequests.changes(tenant, since, atMost), PastRequests::change);
    }

    private <T> List<T> asked(Query query, Query.Mapping<T> mapping) {
        try {
            return query.list(connection, mapping);
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                row.getString("key"),
                row.getBoolean("granted"),
                Query.number(row, "grant_id"),
                Query.text(row, "condition"),
                Query.text(row, "expected"),
                Query.text(row, "seen"));
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
    }
}
