package io.mintmark.console.pages.explain;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.auditor.explain.GivenClaims.UnusableClaims;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;
import io.mintmark.console.pages.activity.ChangesSince;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.keys.OtherKeys;
import io.mintmark.console.pages.mint.Mint;
import io.mintmark.console.pages.mint.MintPage;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintOutcome;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which keys a token gives access to, and why others are denied.
 *
 * @param idps the identity providers to choose from, each with its tenant
 * @param idp the chosen one
 * @param subject fills the form
 * @param claims the input; none if it may be a token
 * @param example claims that lead to an identity provider of the viewer's
 * @param mint the refusal or mint that is explained
 * @param otherKeys the existing keys, if the requested one doesn't exist
 * @param complaint what is wrong with the input
 * @param then what the current configuration would have granted at the time of the request
 * @param changes of the configuration since the request
 * @param remedies what would allow what is denied now
 * @param helpers who can give the subject the key that it was denied
 */
public record ExplainPage(
        Map<String, String> idps,
        Optional<String> idp,
        Optional<String> subject,
        Optional<String> claims,
        String example,
        Optional<Mint> mint,
        Optional<String> otherKeys,
        Optional<String> complaint,
        Optional<ExplainedKeys> then,
        Optional<ExplainedKeys> now,
        Optional<ChangesSince> changes,
        List<Statements.Statement> remedies,
        Optional<Helpers> helpers) {

    private static final String TITLE = "Explain a decision";
    private static final String TEMPLATE = "explain/explain";
    private static final int IDPS = 500;
    private static final int LISTED = 5;

    private static final String NAMES =
            "SELECT p.name, p.tenant FROM broker.identity_provider AS p ORDER BY p.name LIMIT ?";

    /** The page at {@code /explain}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        return view(connection, new Parameters(request), now);
    }

    static View view(Connection connection, Parameters parameters, Instant now)
            throws SQLException {
        return View.of(TITLE, TEMPLATE, of(connection, parameters, now));
    }

    private static ExplainPage of(Connection connection, Parameters parameters, Instant now)
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
                    parameters.text("subject"),
                    claims,
                    ExampleClaims.of(connection),
                    Optional.empty(),
                    Optional.empty(),
                    about.map(_ -> "The mint does not exist, or you may not see it."),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    List.of(),
                    Optional.empty());
        }
        return ofGiven(connection, idps, idp, claims.get());
    }

    /** The answer for a token's claims, which are not put into a URL. */
    static View ofToken(Connection connection, Optional<String> idp, String claims)
            throws SQLException {
        return View.of(TITLE, TEMPLATE, ofGiven(connection, idps(connection), idp, claims));
    }

    private static Map<String, String> idps(Connection connection) throws SQLException {
        Map<String, String> idps = new LinkedHashMap<>();
        Query.of(NAMES, IDPS)
                .list(connection, row -> idps.put(row.getString("name"), row.getString("tenant")));
        return idps;
    }

    private static ExplainPage ofGiven(
            Connection connection, Map<String, String> idps, Optional<String> idp, String text)
            throws SQLException {
        String example = ExampleClaims.of(connection); // what fails below ends the transaction
        Optional<String> complaint = Optional.empty();
        Optional<ExplainedKeys> answer = Optional.empty();
        try {
            if (!ExplainForm.isObject(text)) {
                throw new Parameters.Unusable(
                        "Write claims as a JSON object that begins with {, or as lines of"
                                + " name=value. A token is a secret: paste it into the form,"
                                + " never into the URL.");
            }
            GivenClaims claims = GivenClaims.of(text);
            Explanations explanations = new Explanations(connection);
            answer =
                    Optional.of(
                            ExplainedKeys.of(
                                    explanations,
                                    idp.isPresent() ? idp.get() : provider(explanations, claims),
                                    claims.subject(),
                                    claims.json(),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Optional.empty()));
        } catch (UnusableClaims | QuestionFailed | Parameters.Unusable e) {
            complaint = Optional.ofNullable(e.getMessage()).map(ExplainPage::sentence);
        }
        return new ExplainPage(
                idps,
                idp,
                Optional.empty(),
                Optional.of(text).filter(ExplainForm::isObject),
                example,
                Optional.empty(),
                Optional.empty(),
                complaint,
                Optional.empty(),
                answer,
                Optional.empty(),
                answer.map(keys -> Remedies.of(keys, idps.getOrDefault(keys.idp(), "")))
                        .orElse(List.of()),
                Optional.empty());
    }

    private static String sentence(String words) {
        return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
    }

    private static String provider(Explanations explanations, GivenClaims claims) {
        List<String> found = explanations.identityProviders(claims.issuer(), claims.audiences());
        if (found.size() != 1) {
            throw new Parameters.Unusable(
                    found.isEmpty()
                            ? "No identity provider that you may see has the iss and aud of the"
                                    + " claims. Choose one."
                            : "Several identity providers have the iss and aud of the claims, so"
                                    + " the broker rejects such tokens. Choose one.");
        }
        return found.getFirst();
    }

    /** Only the claims that grants evaluated were recorded; no other claim matters. */
    private static ExplainPage ofPast(Connection connection, Map<String, String> idps, Mint mint)
            throws SQLException {
        MintLine line = mint.line();
        boolean explicable = MintPage.isExplicable(line);
        Explanations explanations = new Explanations(connection);
        Optional<ExplainedKeys> now =
                explicable
                        ? Optional.of(ExplainedKeys.of(explanations, mint, Optional.empty()))
                        : Optional.empty();
        return new ExplainPage(
                idps,
                line.idp(),
                line.subject(),
                mint.origin().claims(),
                "",
                Optional.of(mint),
                line.lackedKey() && now.flatMap(answer -> answer.row(line.key())).isEmpty()
                        ? OtherKeys.of(connection, line.tenant().orElse(""), line.key().orElse(""))
                        : Optional.empty(),
                Optional.empty(),
                explicable
                        ? Optional.of(ExplainedKeys.of(explanations, mint, Optional.of(line.at())))
                        : Optional.empty(),
                now,
                line.tenant().isPresent()
                        ? Optional.of(ChangesSince.of(connection, line.tenant().get(), line.at()))
                        : Optional.empty(),
                now.isPresent() ? Remedies.of(connection, mint, now.get()) : List.of(),
                Helpers.of(connection, line));
    }

    private Optional<String> key() {
        return mint.flatMap(about -> about.line().key());
    }

    /** The explanation for the requested key. */
    Optional<Row> asked() {
        return now.flatMap(answer -> answer.row(key()));
    }

    boolean isGranted() {
        return asked().filter(Row::granted).isPresent();
    }

    /** The present outcome of the past decision; empty if it can't be determined. */
    Optional<String> verdict() {
        boolean denied =
                mint.filter(about -> about.line().outcome() == MintOutcome.DENIED).isPresent();
        if (now.isEmpty()) {
            return Optional.empty();
        }
        if (isGranted()) {
            return Optional.of(
                    denied ? "Now it would be granted." : "Now it would be granted, too.");
        }
        return Optional.of(denied ? "Now it would still be denied." : "Now it would be denied.");
    }

    /** Whether the current configuration is the one of the request. */
    boolean isUnchanged() {
        return changes.filter(ChangesSince::isNone).isPresent();
    }

    /** Whether the same configuration decides differently now, only because of the time. */
    boolean didTimeAloneDecide() {
        return then.flatMap(answer -> answer.row(key())).filter(Row::granted).isPresent()
                != isGranted();
    }

    /** The explanation for the tenant's other keys. */
    Optional<ExplainedKeys> others() {
        return now.map(answer -> answer.without(key().orElse("")));
    }

    /** The answer in a sentence. */
    Optional<String> sentence() {
        return now.map(answer -> {
            String keys =
                    answer.rows().stream()
                            .filter(Row::granted)
                            .map(Row::key)
                            .limit(LISTED)
                            .collect(Collectors.joining(", "));
            long more = answer.granted() - LISTED;
            return answer.granted() == 0
                    ? "%s may mint none of the tenant's keys now.".formatted(answer.subject())
                    : "%s may mint %s now."
                            .formatted(
                                    answer.subject(),
                                    keys + (more > 0 ? " and %d more".formatted(more) : ""));
        });
    }

    /** The tenant whose keys are explained; blank if it isn't known. */
    String tenant() {
        return now.map(answer -> idps.getOrDefault(answer.idp(), "")).orElse("");
    }
}
