package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * IAM Service Account Credentials API v1, method {@code projects.serviceAccounts.
 * generateAccessToken}. Who may ask for whose token is what tests bind.
 */
final class GoogleAccountRules {
    private static final Pattern PATH =
            Pattern.compile("/v1/projects/-/serviceAccounts/([^/:]+@[^/:]+):generateAccessToken");
    private static final Pattern DELEGATE =
            Pattern.compile("projects/-/serviceAccounts/([^/:]+@[^/:]+)");
    private static final Pattern LIFETIME = Pattern.compile("([1-9]\\d{0,6})s");

    private final Map<String, Set<String>> mayActAs = new ConcurrentHashMap<>();
    private final Set<String> longLived = ConcurrentHashMap.newKeySet();
    private final GoogleIssuing issuing;
    private final InstantSource clock;

    GoogleAccountRules(GoogleIssuing issuing, InstantSource clock) {
        this.issuing = issuing;
        this.clock = clock;
    }

    void bind(String member, String account) {
        mayActAs.computeIfAbsent(member, _ -> ConcurrentHashMap.newKeySet()).add(account);
    }

    void allowTwelveHours(String account) {
        longLived.add(account);
    }

    /** The answer's JSON. */
    String answer(GoogleCall call) throws GoogleRefusal {
        Matcher path = PATH.matcher(call.path());
        if (!path.matches()) {
            throw GoogleRefusal.rpc(404, "NOT_FOUND", "Method not found.");
        }
        GoogleIssued caller = caller(call);
        call.hasOnly(Set.of("scope", "lifetime", "delegates"));
        String account = path.group(1);
        Set<String> scopes = new TreeSet<>(texts(call.body().path("scope")));
        if (scopes.isEmpty()) {
            throw GoogleRefusal.invalid("Scope required.");
        }
        walk(caller.holder(), texts(call.body().path("delegates")), account);
        Instant expiry =
                clock.instant()
                        .truncatedTo(ChronoUnit.SECONDS)
                        .plusSeconds(seconds(call.text("lifetime"), account));
        String token = issuing.issue(new GoogleIssued(account, false, scopes, expiry, false));
        return "{\"accessToken\": \"%s\", \"expireTime\": \"%s\"}".formatted(token, expiry);
    }

    private GoogleIssued caller(GoogleCall call) throws GoogleRefusal {
        String bearer = call.authorization().orElse("");
        GoogleIssued caller =
                issuing.living(bearer.replaceFirst("^Bearer ", ""))
                        .filter(_ -> bearer.startsWith("Bearer "))
                        .filter(token -> !token.bounded())
                        .orElseThrow(() ->
                                GoogleRefusal.rpc(
                                        401,
                                        "UNAUTHENTICATED",
                                        "Request had invalid authentication credentials."));
        if (!caller.scopes().contains(GoogleStandIn.CLOUD_PLATFORM)) {
            throw GoogleRefusal.rpc(
                    403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.");
        }
        return caller;
    }

    private void walk(String from, List<String> delegates, String account) throws GoogleRefusal {
        List<String> way = new ArrayList<>(delegates.size() + 1);
        for (String delegate : delegates) {
            Matcher name = DELEGATE.matcher(delegate);
            if (!name.matches()) {
                throw GoogleRefusal.invalid("Invalid form of delegate: " + delegate);
            }
            way.add(name.group(1));
        }
        way.add(account);
        String member = from;
        for (String next : way) {
            if (!mayActAs.getOrDefault(member, Set.of()).contains(next)) {
                throw GoogleRefusal.rpc(
                        403,
                        "PERMISSION_DENIED",
                        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it"
                                + " may not exist).");
            }
            member = next;
        }
    }

    private long seconds(String lifetime, String account) throws GoogleRefusal {
        Matcher form = LIFETIME.matcher(lifetime);
        if (!form.matches()) {
            throw GoogleRefusal.invalid("Invalid value at 'lifetime'");
        }
        long seconds = Long.parseLong(form.group(1));
        if (seconds > (longLived.contains(account) ? 43_200 : 3600)) {
            throw GoogleRefusal.invalid(
                    "Access tokens for service account %s can not have lifetimes of more than 1 hour. Use the Org Policy Constraint constraints/iam.allowServiceAccountCredentialLifetimeExtension to allow up to 12 hours."
                            .formatted(account));
        }
        return seconds;
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}
