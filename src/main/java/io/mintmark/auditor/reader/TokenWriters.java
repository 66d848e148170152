package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The logins that wrote requests, and decisions by token, into the history of one tenant. Only the
 * service writes these, and it may not write the tables that admins configure. A login that wrote
 * both is an admin's or the owner's, and what it wrote in the name of tokens is forged.
 */
final class TokenWriters {
    private static final Set<String> CONFIGURED =
            Set.of(
                    "tenant",
                    "identity_provider",
                    "access_provider",
                    "key",
                    "access_rule",
                    "access_approver",
                    "blocked_subject");

    private final Set<String> admins = new HashSet<>();

    /** The first row that each login wrote in the name of a token. */
    private final Map<String, RecordedChange> written = new HashMap<>();

    private final Set<String> reported = new HashSet<>();

    /** Follows a change. Returns the finding about its login, once. */
    Optional<String> add(RecordedChange change) {
        String login = change.changedBy();
        if (CONFIGURED.contains(change.table()) || isAdminsGrant(change)) {
            admins.add(login);
        } else if (isOfToken(change)) {
            written.putIfAbsent(login, change);
        }
        RecordedChange forged = written.get(login);
        return forged != null && admins.contains(login) && reported.add(login)
                ? Optional.of(
                        "forged_%s of tenant %s at change %d: login '%s', which wrote it, also wrote configuration, which the service's login never does"
                                .formatted(
                                        forged.table(), forged.tenant(), forged.revision(), login))
                : Optional.empty();
    }

    /** Whether an admin wrote or approved a grant. The service's come from requests. */
    private static boolean isAdminsGrant(RecordedChange change) {
        JsonNode after = change.after();
        return change.table().equals("subject_grant")
                && after.isObject()
                && !after.hasNonNull("request_id")
                && (!change.before().isObject()
                        || (after.hasNonNull("approved_by")
                                && !change.before().hasNonNull("approved_at")));
    }

    private static boolean isOfToken(RecordedChange change) {
        return !change.before().isObject()
                && switch (change.table()) {
                    case "access_request" -> true;
                    case "access_decision" -> !change.after().hasNonNull("decided_by");
                    default -> false;
                };
    }
}
