package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checks in the history of one tenant that each break glass was signed off by a review of its
 * grant, once, by somebody who had no part in it: neither in the request nor in its access rule.
 */
final class RecordedSignOffs {
    /** The logins that changed each access rule, by its id. */
    private final Map<String, Set<String>> changers = new HashMap<>();

    /** The last review, which the sign-off follows in the same transaction. */
    private @Nullable RecordedChange review;

    /** Follows a change. Returns the finding about a sign-off. */
    Optional<String> add(RecordedChange change, RecordedPeople people) {
        JsonNode after = change.after();
        if (change.table().equals("access_rule")) {
            String rule = (after.isObject() ? after : change.before()).path("id").asText();
            changers.computeIfAbsent(rule, _ -> new HashSet<>()).add(change.changedBy());
        } else if (change.table().equals("grant_review")) {
            review = change;
        } else if (isSignOff(change)) {
            return objection(change, people)
                    .map(why ->
                            "wrong_sign_off of request %s of tenant %s at change %d: %s"
                                    .formatted(
                                            after.path("id").asText(),
                                            change.tenant(),
                                            change.revision(),
                                            why));
        }
        return Optional.empty();
    }

    private static boolean isSignOff(RecordedChange change) {
        return change.table().equals("access_request")
                && change.before().isObject()
                && change.after().isObject()
                && !signer(change.before()).equals(signer(change.after()));
    }

    /** Older rows lack the column. */
    private static String signer(JsonNode request) {
        return request.path("signed_off_by").asText("");
    }

    private Optional<String> objection(RecordedChange change, RecordedPeople people) {
        if (change.before().hasNonNull("signed_off_by")) {
            return Optional.of(
                    "it was already signed off by '%s', and a sign-off can't be changed"
                            .formatted(change.before().path("signed_off_by").asText()));
        }
        JsonNode request = change.after();
        String login = request.path("signed_off_by").asText();
        Set<String> ofRule = changers.getOrDefault(request.path("rule").asText(), Set.of());
        if (!login.equals(change.changedBy())) {
            return Optional.of("login '%s' recorded it".formatted(change.changedBy()));
        } else if (!isReviewed(change)) {
            return Optional.of("'%s' did not review its grant".formatted(login));
        } else if (RecordedPeople.isParty(people.ofLogin(login), request)) {
            return Optional.of("'%s' made the request, or acted in it".formatted(login));
        } else if (people.isOneOf(login, ofRule)) {
            return Optional.of("'%s' wrote, changed or approved its access rule".formatted(login));
        }
        return Optional.empty();
    }

    private boolean isReviewed(RecordedChange signOff) {
        return review != null
                && review.transaction().equals(signOff.transaction())
                && review.changedBy().equals(signOff.changedBy())
                && review.after().path("grant_id").equals(signOff.after().path("grant_id"));
    }
}
