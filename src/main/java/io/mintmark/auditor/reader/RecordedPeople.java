package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Who is one person in the history of one tenant: logins, and subjects of issuers. A name is {@code
 * "login LOGIN"} or {@code "subject ISSUER SUBJECT"}.
 */
final class RecordedPeople {
    /** Pairs of a login and a subject that a row in force said or says are one person. */
    private final Set<Set<String>> joined = new HashSet<>();

    /** Pairs of issuers of which an identity provider had one before the other. */
    private final Set<Set<String>> links = new HashSet<>();

    /** The last issuer of each name of an identity provider. */
    private final Map<String, String> issuers = new HashMap<>();

    /** The issuers of the identity providers that there are. */
    private final Map<String, String> providers = new HashMap<>();

    /** Follows a row of {@code access_approver} that is in force. */
    void join(JsonNode approver) {
        if (approver.hasNonNull("role_name") && approver.hasNonNull("subject")) {
            joined.add(
                    Set.of(
                            login(approver.path("role_name").asText()),
                            subject(approver, "issuer", "subject")));
        }
    }

    /**
     * Follows a change of an identity provider: a new URL of its issuer changes no person, nor does
     * another row by its name.
     */
    void link(JsonNode before, JsonNode after) {
        for (JsonNode row : List.of(before, after)) {
            if (row.isObject()) {
                String issuer = row.path("issuer").asText();
                link(before.path("issuer").asText(issuer), issuer);
                String former = issuers.put(row.path("name").asText(), issuer);
                link(former == null ? issuer : former, issuer);
            }
        }
        providers.remove(before.path("name").asText());
        if (after.isObject()) {
            providers.put(after.path("name").asText(), after.path("issuer").asText());
        }
    }

    /** The reason why a row that names people is forged; empty if its issuers are true. */
    Optional<String> wrongIssuer(RecordedChange change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        return switch (change.table()) {
            case "access_approver" -> {
                boolean keepsIssuer =
                        before.isObject()
                                && before.path("idp").equals(after.path("idp"))
                                && before.path("issuer").equals(after.path("issuer"));
                yield keepsIssuer ? Optional.empty() : wrongIssuer(after, "idp", "issuer");
            }
            case "access_request" ->
                    before.isObject()
                            ? Optional.empty()
                            : wrongIssuer(after, "idp", "issuer")
                                    .or(() -> wrongIssuer(after, "actor_idp", "actor_issuer"));
            case "access_decision" ->
                    before.isObject() ? Optional.empty() : wrongIssuer(after, "idp", "issuer");
            default -> Optional.empty();
        };
    }

    /** The reason why the issuer in a row is not that of its identity provider; empty if it is. */
    Optional<String> wrongIssuer(JsonNode row, String idp, String issuer) {
        if (!row.hasNonNull(idp) && !row.hasNonNull(issuer)) {
            return Optional.empty();
        }
        String name = row.path(idp).asText();
        String named = row.path(issuer).asText();
        String known = providers.get(name);
        return named.equals(known)
                ? Optional.empty()
                : Optional.of(
                        "it names issuer '%s', but %s"
                                .formatted(
                                        named,
                                        known == null
                                                ? "there was no identity provider '%s'"
                                                        .formatted(name)
                                                : "identity provider '%s' had issuer '%s'"
                                                        .formatted(name, known)));
    }

    private void link(String from, String to) {
        if (!from.equals(to)) {
            links.add(Set.of(from, to));
        }
    }

    /** Whether an approver's row names the issuer of a decision, or one linked with it. */
    boolean areLinked(JsonNode approver, JsonNode decision) {
        Set<String> issuers = new HashSet<>(Set.of(decision.path("issuer").asText()));
        while (grow(issuers, links)) {
            // until no link adds an issuer
        }
        return approver.hasNonNull("issuer") && issuers.contains(approver.path("issuer").asText());
    }

    /** All names of the person who made a decision. */
    Set<String> person(JsonNode decision) {
        return names(
                decision.hasNonNull("decided_by")
                        ? login(decision.path("decided_by").asText())
                        : subject(decision, "issuer", "subject"));
    }

    /** All names of each person who has several. */
    Stream<Set<String>> joined() {
        Set<String> seen = new HashSet<>();
        return joined.stream()
                .map(pair -> pair.iterator().next())
                .filter(name -> !seen.contains(name))
                .map(this::names)
                .peek(seen::addAll);
    }

    /** All names of the person with a login. */
    Set<String> ofLogin(String login) {
        return names(login(login));
    }

    /** Whether a person made a request or acted in it. */
    static boolean isParty(Set<String> person, JsonNode request) {
        return person.contains(subject(request, "issuer", "subject"))
                || person.contains(subject(request, "actor_issuer", "actor"));
    }

    /** Whether one of these logins is this login, or another login of the same person. */
    boolean isOneOf(String login, Set<String> logins) {
        Set<String> person = names(login(login));
        return logins.stream().anyMatch(one -> person.contains(login(one)));
    }

    /** Whether a login is a name of a person. */
    static boolean hasLogin(Set<String> person, String login) {
        return person.contains(login(login));
    }

    /** The subjects by which an issuer knows a person. */
    static Stream<String> subjects(Set<String> person, String issuer) {
        String begin = "subject " + issuer + " ";
        return person.stream()
                .filter(name -> name.startsWith(begin))
                .map(name -> name.substring(begin.length()));
    }

    /** The name of a subject, by the columns of its issuer and itself. */
    static String subject(JsonNode row, String issuer, String subject) {
        return "subject " + row.path(issuer).asText() + " " + row.path(subject).asText();
    }

    private static String login(String login) {
        return "login " + login;
    }

    private Set<String> names(String first) {
        Set<String> names = new HashSet<>(Set.of(first));
        boolean grew = true;
        while (grew) {
            grew = grow(names, joined);
            for (String name : List.copyOf(names)) {
                grew = names.addAll(underOtherIssuers(name)) || grew;
            }
        }
        return names;
    }

    private static boolean grow(Set<String> known, Collection<Set<String>> pairs) {
        boolean grew = false;
        for (Set<String> pair : pairs) {
            if (!Collections.disjoint(pair, known)) {
                grew = known.addAll(pair) || grew;
            }
        }
        return grew;
    }

    private Set<String> underOtherIssuers(String name) {
        Set<String> others = new HashSet<>();
        for (Set<String> link : links) {
            for (String issuer : link) {
                subjects(Set.of(name), issuer)
                        .forEach(subject ->
                                link.forEach(
                                        other -> others.add("subject " + other + " " + subject)));
            }
        }
        return others;
    }
}
