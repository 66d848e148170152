package io.mintmark.console.pages;

import io.mintmark.postgres.Explanations;
import io.mintmark.postgres.Explanations.Question;
import io.mintmark.postgres.Explanations.Row;
import io.mintmark.postgres.GivenClaims;
import io.mintmark.postgres.GivenClaims.UnusableClaims;
import io.mintmark.postgres.QuestionFailed;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which keys a token gives, and why not the others.
 *
 * @param idps those that can be chosen, each with its tenant
 * @param idp the chosen one
 * @param claims what was given
 * @param mint the refusal or mint that it is about
 * @param otherKeys which there are, where what was asked for isn't one
 * @param complaint what is wrong with what was given
 */
record ExplainPage(
        Map<String, String> idps,
        Optional<String> idp,
        Optional<String> claims,
        Optional<Mint> mint,
        Optional<String> otherKeys,
        Optional<String> complaint,
        Optional<Answer> then,
        Optional<Answer> now) {

    private static final int IDPS = 500;

    private static final String NAMES =
            "SELECT p.name, p.tenant FROM broker.identity_provider AS p ORDER BY p.name LIMIT ?";

    /**
     * A row for each key of the tenant.
     *
     * @param subject whose token it was about
     */
    record Answer(String idp, String subject, List<Row> rows) {
        /** With the key first that it is about. */
        private Answer first(Optional<String> key) {
            List<Row> sorted = new ArrayList<>(rows);
            sorted.sort(Comparator.comparing(row -> !key.equals(Optional.of(row.key()))));
            return new Answer(idp, subject, List.copyOf(sorted));
        }

        long granted() {
            return rows.stream().filter(Row::granted).count();
        }
    }

    static ExplainPage of(Connection connection, Parameters parameters, Instant now)
            throws SQLException {
        Map<String, String> idps = idps(connection);
        Optional<String> about = parameters.id("mint").map(Object::toString);
        if (about.isPresent()) {
            Optional<Mint> mint = Mint.of(connection, about.get(), now);
            if (mint.isPresent()) {
                return ofPast(connection, idps, mint.get());
            }
        }
        Optional<String> idp = parameters.text("idp");
        Optional<String> claims = parameters.text("claims");
        if (claims.isEmpty()) {
            return new ExplainPage(
                    idps,
                    idp,
                    claims,
                    Optional.empty(),
                    Optional.empty(),
                    about.map(_ -> "There is no such mint that you may see."),
                    Optional.empty(),
                    Optional.empty());
        }
        return ofGiven(connection, idps, idp, claims.get());
    }

    private static Map<String, String> idps(Connection connection) throws SQLException {
        Map<String, String> idps = new LinkedHashMap<>();
        Query.of(NAMES, IDPS)
                .list(connection, row -> idps.put(row.getString("name"), row.getString("tenant")));
        return idps;
    }

    private static ExplainPage ofGiven(
            Connection connection, Map<String, String> idps, Optional<String> idp, String text) {
        Optional<String> complaint = Optional.empty();
        Optional<Answer> answer = Optional.empty();
        try {
            if (!text.startsWith("{")) {
                throw new Parameters.Unusable(
                        "Only the claims can be shown here, as a JSON object; a token is a secret.");
            }
            GivenClaims claims = GivenClaims.of(text);
            Explanations explanations = new Explanations(connection);
            answer =
                    Optional.of(
                            answer(
                                    explanations,
                                    idp.isPresent() ? idp.get() : provider(explanations, claims),
                                    claims.subject(),
                                    claims.json(),
                                    Optional.empty()));
        } catch (UnusableClaims | QuestionFailed | Parameters.Unusable e) {
            complaint = Optional.ofNullable(e.getMessage());
        }
        return new ExplainPage(
                idps,
                idp,
                Optional.of(text),
                Optional.empty(),
                Optional.empty(),
                complaint,
                Optional.empty(),
                answer);
    }

    private static String provider(Explanations explanations, GivenClaims claims) {
        List<String> found = explanations.identityProviders(claims.issuer(), claims.audiences());
        if (found.size() != 1) {
            throw new Parameters.Unusable(
                    found.isEmpty()
                            ? "The claims' iss and aud lead to no identity provider that you may see: choose one."
                            : "The claims' iss and aud lead to several identity providers, which the broker refuses: choose one.");
        }
        return found.getFirst();
    }

    /** The claims alone were recorded that grants looked at; no other counts. */
    private static ExplainPage ofPast(Connection connection, Map<String, String> idps, Mint mint)
            throws SQLException {
        MintLine line = mint.line();
        Optional<Answer> then = Optional.empty();
        Optional<Answer> again = Optional.empty();
        if (line.idp().isPresent() && line.subject().isPresent()) {
            Explanations explanations = new Explanations(connection);
            String claims = GivenClaims.recorded(mint.origin().claims().orElse("{}")).json();
            String idp = line.idp().get();
            String subject = line.subject().get();
            then =
                    Optional.of(
                            answer(explanations, idp, subject, claims, Optional.of(line.at()))
                                    .first(line.key()));
            again =
                    Optional.of(
                            answer(explanations, idp, subject, claims, Optional.empty())
                                    .first(line.key()));
        }
        return new ExplainPage(
                idps,
                line.idp(),
                mint.origin().claims(),
                Optional.of(mint),
                line.lackedKey()
                        ? OtherKeys.of(connection, line.tenant().orElse(""), line.key().orElse(""))
                        : Optional.empty(),
                Optional.empty(),
                then,
                again);
    }

    private static Answer answer(
            Explanations explanations,
            String idp,
            String subject,
            String claims,
            Optional<Instant> at) {
        return new Answer(
                idp, subject, explanations.explain(new Question(idp, subject, claims, at)));
    }

    /** What is told of the key that the mint asked for, by the configuration of now. */
    Optional<Row> asked() {
        return row(then, mint.flatMap(about -> about.line().key()));
    }

    private static boolean isGranted(Optional<Answer> answer, Optional<String> key) {
        return row(answer, key).filter(Row::granted).isPresent();
    }

    private static Optional<Row> row(Optional<Answer> answer, Optional<String> key) {
        return answer.stream()
                .flatMap(given -> given.rows().stream())
                .filter(row -> key.equals(Optional.of(row.key())))
                .findFirst();
    }

    /** The tenant whose keys are told of; blank where it isn't known. */
    String tenant() {
        return now.map(answer -> idps.getOrDefault(answer.idp(), "")).orElse("");
    }

    /** Whether time alone changes nothing of it. */
    boolean isSame() {
        return now.isPresent() && then.map(Answer::rows).equals(now.map(Answer::rows));
    }

    /** What would allow what was denied, unless it is granted by now. */
    Optional<Statements.Statement> remedy() {
        return mint.map(Mint::line)
                .filter(line -> line.lackedGrant() && !isGranted(now, line.key()))
                .map(line ->
                        Statements.give(
                                line.tenant().orElse(""),
                                line.idp().orElse(""),
                                line.subject().orElse(""),
                                line.key().orElse("")));
    }
}
