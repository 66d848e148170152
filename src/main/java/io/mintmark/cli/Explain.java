package io.mintmark.cli;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.postgres.DatabaseLogin;
import io.mintmark.postgres.Explanations;
import io.mintmark.postgres.Explanations.Past;
import io.mintmark.postgres.Explanations.Question;
import io.mintmark.postgres.Explanations.Row;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** {@code explain}: which keys a token gives, and why not the others. */
@Command(
        name = "explain",
        description = {
            "Shows each key of the tenant: granted, and by which grant, or the first condition that"
                    + " failed.",
            "Asks the database with DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD, and sees"
                    + " what that login may see. A token's signature and times aren't checked."
        },
        mixinStandardHelpOptions = true)
final class Explain implements Callable<Integer> {
    private static final int NOTHING_GRANTED = 3;
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    @Parameters(
            arity = "0..1",
            paramLabel = "TOKEN",
            description =
                    "A token, or its claims as a JSON object; - reads it from standard input.")
    private @Nullable String token;

    @Option(
            names = "--request",
            paramLabel = "ID",
            description = "A past request, by its X-Request-ID, from the audit log.")
    private @Nullable String request;

    @Option(
            names = "--idp",
            paramLabel = "NAME",
            description = "The identity provider; else the one that iss and aud lead to.")
    private @Nullable String idp;

    private final Supplier<DatabaseLogin> login;
    private final InputStream in;
    private final PrintStream out;

    /**
     * @param login asked for when the command is run
     */
    Explain(Supplier<DatabaseLogin> login, InputStream in, PrintStream out) {
        this.login = login;
        this.in = in;
        this.out = out;
    }

    @Override
    public Integer call() {
        if ((token == null) == (request == null)) {
            throw new StartFailed("explain needs a token, its claims, or --request ID");
        }
        try (Explanations explanations = new Explanations(login.get())) {
            boolean granted =
                    request != null
                            ? past(explanations, request)
                            : now(explanations, claims(String.valueOf(token).strip()));
            return granted ? 0 : NOTHING_GRANTED;
        }
    }

    private boolean now(Explanations explanations, ObjectNode claims) {
        String subject = claims.path("sub").asText();
        if (subject.isEmpty()) {
            throw new StartFailed("the claims have no sub");
        }
        return table(
                explanations,
                new Question(
                        provider(explanations, claims),
                        subject,
                        claims.toString(),
                        Optional.empty()));
    }

    private String provider(Explanations explanations, ObjectNode claims) {
        if (idp != null) {
            return idp;
        }
        String issuer = claims.path("iss").asText();
        List<String> audiences = new ArrayList<>();
        if (claims.path("aud").isTextual()) {
            audiences.add(claims.path("aud").textValue());
        }
        claims.path("aud").elements().forEachRemaining(one -> audiences.add(one.asText()));
        List<String> found = explanations.identityProviders(issuer, audiences);
        if (found.size() != 1) {
            throw new StartFailed(
                    "issuer '%s' with audience %s leads to %s; name one with --idp"
                            .formatted(
                                    issuer,
                                    audiences,
                                    found.isEmpty()
                                            ? "no identity provider that you may see"
                                            : "several identity providers, which the broker refuses: "
                                                    + found));
        }
        return found.getFirst();
    }

    /** The claims alone were recorded that grants looked at; no other counts. */
    private boolean past(Explanations explanations, String id) {
        List<Past> past = explanations.past(id);
        if (past.isEmpty()) {
            throw new StartFailed(
                    "request '%s' isn't on record, or not yours to see".formatted(id));
        }
        past.forEach(one ->
                out.printf(
                        "%s  %s  %s%s%n",
                        one.at(),
                        one.key().orElse("-"),
                        one.kind(),
                        one.reason().map(reason -> ": " + reason).orElse("")));
        Past one = past.getFirst();
        if (one.subject().isEmpty()) {
            out.println("The token was not accepted, so no grant was looked at.");
            return false;
        }
        out.println("With the configuration of now, at that time:");
        return table(
                explanations,
                new Question(
                        idp == null ? one.idp().orElseThrow() : idp,
                        one.subject().get(),
                        unfolded(one.claims().orElse("{}")),
                        Optional.of(one.at())));
    }

    private boolean table(Explanations explanations, Question question) {
        List<Row> rows = explanations.explain(question);
        out.printf("identity provider %s, subject %s%n%n", question.idp(), question.subject());
        out.print(Table.of(rows));
        return rows.stream().anyMatch(Row::granted);
    }

    /** What was recorded by pointers, as the claims that they point into. */
    static String unfolded(String recorded) {
        ObjectNode claims = JSON.createObjectNode();
        object(recorded)
                .properties()
                .forEach(claim -> {
                    if (!claim.getKey().startsWith("/")) {
                        claims.set(claim.getKey(), claim.getValue());
                    }
                });
        object(recorded)
                .properties()
                .forEach(claim -> {
                    if (claim.getKey().startsWith("/")) {
                        unfold(claims, JsonPointer.compile(claim.getKey()), claim.getValue());
                    }
                });
        return claims.toString();
    }

    /** A number in a pointer becomes a member of that name, which the same pointer finds. */
    private static void unfold(ObjectNode into, JsonPointer pointer, JsonNode value) {
        String name = pointer.getMatchingProperty();
        if (pointer.tail().matches()) {
            into.set(name, value);
        } else if (into.path(name).isMissingNode()) {
            unfold(into.putObject(name), pointer.tail(), value);
        } else if (into.path(name) instanceof ObjectNode inner) {
            unfold(inner, pointer.tail(), value);
        }
    }

    private ObjectNode claims(String given) {
        String text = given.equals("-") ? read() : given;
        if (text.startsWith("{")) {
            return object(text);
        }
        String[] parts = text.split("\\.", -1);
        try {
            return object(
                    new String(
                            Base64.getUrlDecoder().decode(parts[parts.length == 3 ? 1 : 0]),
                            StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw new StartFailed("that is neither a token nor a JSON object of claims");
        }
    }

    private String read() {
        try {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Never quotes what it can't read: it may be a token. */
    private static ObjectNode object(String json) {
        try {
            if (JSON.readTree(json) instanceof ObjectNode object) {
                return object;
            }
        } catch (JsonProcessingException e) {
            throw new StartFailed("the claims are no JSON object");
        }
        throw new StartFailed("the claims are no JSON object");
    }
}
