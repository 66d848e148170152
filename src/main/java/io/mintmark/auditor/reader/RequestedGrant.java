package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.broker.catalogue.DocumentFields;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A grant as its request asked for it. */
final class RequestedGrant {
    private RequestedGrant() {}

    /** Whether a grant gives what its request asked for, and not more or later. */
    static boolean isWhatWasAsked(JsonNode grant, JsonNode request, Instant writtenAt) {
        return List.of("key", "idp", "subject", "claims", "actor_idp", "actor").stream()
                        .allMatch(column -> grant.path(column).equals(request.path(column)))
                && grant.path("match").asText().equals("exact")
                && grant.path("actor_claims").isEmpty()
                && grant.path("networks").isEmpty()
                && !beginsAfter(grant, writtenAt)
                && lasts(grant)
                        .equals(Optional.of(Duration.ofSeconds(request.path("access").asLong())));
    }

    private static boolean beginsAfter(JsonNode grant, Instant writtenAt) {
        return DocumentFields.time(grant, "valid_from")
                .filter(begin -> begin.isAfter(writtenAt))
                .isPresent();
    }

    private static Optional<Duration> lasts(JsonNode grant) {
        try {
            Optional<Instant> from = DocumentFields.time(grant, "valid_from");
            return from.flatMap(begin ->
                    DocumentFields.time(grant, "valid_until")
                            .map(end -> Duration.between(begin, end)));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
