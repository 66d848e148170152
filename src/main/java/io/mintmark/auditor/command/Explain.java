package io.mintmark.auditor.command;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Explanations.Question;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.auditor.explain.Past;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.Table;
import io.mintmark.base.sql.DatabaseLogin;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** {@code explain}: which keys a token gives, and why not the others. */
@Command(
        name = "explain",
        description = {
            "Shows each key of the tenant: granted, and by which grant, or the first condition that"
                    + " failed.",
            "Connects with DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD, and shows only"
                    + " what that login may see. Doesn't check a token's signature or times."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:A key is granted; with --request: the request got a credential for each key.",
            "1:The command failed; no decision is shown.",
            "2:Wrong usage.",
            "3:No key is granted; with --request: the request was denied, rejected or failed."
        })
public final class Explain implements Callable<Integer> {
    private static final int NOTHING_GRANTED = 3;
    private static final String ISSUED = "issued";
    private static final List<String> HEAD =
            List.of("key", "granted", "grant", "condition", "expected", "seen");

    @Parameters(
            arity = "0..1",
            paramLabel = "TOKEN",
            description =
                    "A token, or its claims as a JSON object; - reads it from standard input.")
    private @Nullable String token;

    @Option(
            names = "--request",
            paramLabel = "ID",
            description =
                    "A past request, by its X-Request-ID: its recorded decision, later"
                            + " configuration changes, and the decision of the present configuration.")
    private @Nullable String request;

    @Option(
            names = "--idp",
            paramLabel = "NAME",
            description =
                    "The identity provider; by default, the one that iss and aud " + "select.")
    private @Nullable String idp;

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            description =
                    "The client's address, for grants with networks; with --request, that of the request.")
    private @Nullable String address;

    private final Supplier<DatabaseLogin> login;
    private final InputStream in;
    private final PrintStream out;

    /**
     * @param login requested when the command runs
     */
    public Explain(Supplier<DatabaseLogin> login, InputStream in, PrintStream out) {
        this.login = login;
        this.in = in;
        this.out = out;
    }

    @Override
    public Integer call() {
        if ((token == null) == (request == null)) {
            throw new CommandFailed("explain needs a token, its claims, or --request ID");
        }
        try (Explanations explanations = new Explanations(login.get())) {
            boolean granted =
                    request != null
                            ? past(explanations, request)
                            : now(explanations, GivenClaims.of(given(String.valueOf(token))));
            return granted ? 0 : NOTHING_GRANTED;
        }
    }

    private String given(String argument) {
        if (!argument.equals("-")) {
            return argument.strip();
        }
        try {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean now(Explanations explanations, GivenClaims claims) {
        return answer(
                explanations,
                new Question(
                        provider(explanations, claims),
                        claims.subject(),
                        claims.json(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.ofNullable(address)));
    }

    private String provider(Explanations explanations, GivenClaims claims) {
        if (idp != null) {
            return idp;
        }
        List<String> audiences = claims.audiences();
        List<String> found = explanations.identityProviders(claims.issuer(), audiences);
        if (found.size() != 1) {
            throw new CommandFailed(
                    "issuer '%s' with audience %s matches %s; name an identity provider with --idp"
                            .formatted(
                                    VisibleText.of(claims.issuer()),
                                    VisibleText.of(audiences.toString()),
                                    found.isEmpty()
                                            ? "no identity provider that you may see"
                                                    + near(explanations, claims.issuer())
                                            : "several identity providers, so the broker rejects such tokens: "
                                                    + found));
        }
        return found.getFirst();
    }

    private static String near(Explanations explanations, String issuer) {
        return explanations.nearly(issuer).stream()
                .map(near -> near(near, issuer))
                .collect(Collectors.joining("; ", " (", ")"))
                .replace(" ()", "");
    }

    private static String near(Explanations.Neighbour near, String issuer) {
        return near.issuer().equals(issuer)
                ? "'%s' has this issuer with the audiences %s"
                        .formatted(near.idp(), VisibleText.of(near.audiences()))
                : "'%s' has issuer '%s', which differs by case or a slash, and is compared exactly"
                        .formatted(near.idp(), VisibleText.of(near.issuer()));
    }

    private boolean past(Explanations explanations, String id) {
        List<Past> past = explanations.past(id);
        if (past.isEmpty()) {
            throw new CommandFailed(
                    "request '%s' is not in the audit log, or you may not see it. A request without a token, or with a token of an unknown issuer, is only in the broker's own log: search each replica's log for the line with this requestId; its fields error and reason name the cause"
                            .formatted(VisibleText.of(id)));
        }
        PastReport report = new PastReport(explanations, out);
        report.recorded(past);
        Instant at = past.getFirst().at();
        // Clients choose request ids, so several requests may share one.
        List<Question> questions =
                past.stream().flatMap(one -> question(one, at).stream()).distinct().toList();
        if (questions.isEmpty()) {
            out.printf("%nThe token was not accepted, so no grant was checked.%n");
            return false;
        }
        out.println();
        report.changedSince(past.getFirst());
        Set<String> keys =
                past.stream().flatMap(one -> one.key().stream()).collect(Collectors.toSet());
        questions.forEach(question -> again(explanations, question, keys));
        return past.stream().allMatch(one -> one.kind().equals(ISSUED));
    }

    /** Only the claims that grants evaluated were recorded; no other claim matters. */
    private Optional<Question> question(Past one, Instant at) {
        return one.subject()
                .map(subject ->
                        new Question(
                                idp == null ? one.idp().orElseThrow() : idp,
                                subject,
                                GivenClaims.recorded(one.claims().orElse("{}")).json(),
                                one.actor(),
                                Optional.of(at),
                                one.address()));
    }

    private void again(Explanations explanations, Question then, Set<String> keys) {
        Question now =
                new Question(
                        then.idp(),
                        then.subject(),
                        then.claims(),
                        then.actor(),
                        Optional.empty(),
                        then.address());
        List<Row> rowsThen = rows(explanations, then, keys);
        List<Row> rowsNow = rows(explanations, now, keys);
        boolean same = rowsThen.equals(rowsNow);
        out.printf(
                "%nUnder the present configuration, at the time of the request%s:%n",
                same ? " and now" : "");
        print(then, rowsThen);
        if (!same) {
            out.printf("%nUnder the present configuration, now:%n");
            print(now, rowsNow);
        }
    }

    private static List<Row> rows(Explanations explanations, Question question, Set<String> keys) {
        return explanations.explain(question).stream()
                .filter(row -> keys.contains(row.key()))
                .toList();
    }

    private boolean answer(Explanations explanations, Question question) {
        List<Row> rows = explanations.explain(question);
        print(question, rows);
        return rows.stream().anyMatch(Row::granted);
    }

    private void print(Question question, List<Row> rows) {
        out.printf(
                "identity provider %s, subject %s%s%n%n",
                question.idp(),
                VisibleText.of(question.subject()),
                question.actor()
                        .map(actor ->
                                ", actor %s of %s"
                                        .formatted(VisibleText.of(actor.name()), actor.idp()))
                        .orElse(""));
        out.print(Table.of(HEAD, rows.stream().map(Explain::cells).toList()));
    }

    private static List<String> cells(Row row) {
        return List.of(
                row.key(),
                row.granted() ? "yes" : "no",
                row.grantId().map(String::valueOf).orElse("-"),
                row.condition().orElse("-"),
                row.expected().map(VisibleText::of).orElse("-"),
                row.seen().map(VisibleText::of).orElse("-"));
    }
}
