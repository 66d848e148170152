package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.AccessRefusal.KeysDenied;
import io.mintmark.base.verdict.AccessRefusal.OtherNetworks;
import io.mintmark.base.verdict.AccessRefusal.TooShortGrant;
import io.mintmark.base.verdict.AccessRefusal.WithdrawnAccess;

import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The refusal of keys that the subject isn't granted, with what is known of the reasons. */
final class DeniedKeys {
    private DeniedKeys() {}

    /** The known reasons of the refusal for its message, each in brackets; empty without one. */
    static String because(KeysDenied refusal) {
        return tooShort(refusal.tooShort())
                + elsewhere(refusal.elsewhere())
                + withdrawn(refusal.withdrawn());
    }

    /** How the subject gets a grant, given the keys that it may ask for. */
    static String advice(List<String> requestable) {
        return requestable.isEmpty()
                ? "ask an admin for one"
                : "use POST /access-requests to ask for access to " + Refusals.keys(requestable);
    }

    static ErrorBody body(KeysDenied refusal) {
        List<String> requestable = refusal.requestableKeys();
        ObjectNode details = Refusals.about(refusal.subject());
        Refusals.with(details, "deniedKeys", refusal.deniedKeys());
        Refusals.with(details, "allowedKeys", refusal.allowedKeys());
        if (!requestable.isEmpty()) {
            Refusals.with(details, "requestableKeys", requestable);
        }
        if (!refusal.tooShort().isEmpty()) {
            ArrayNode tooShort = details.putArray("tooShort");
            refusal.tooShort()
                    .forEach(grant ->
                            tooShort.addObject()
                                    .put("key", grant.key())
                                    .put("seconds", grant.left().toSeconds())
                                    .put("least", grant.least().toSeconds()));
        }
        refusal.elsewhere()
                .ifPresent(other ->
                        Refusals.with(
                                details.put("reason", "address_not_allowed")
                                        .put("address", other.address()),
                                "elsewhereKeys",
                                other.keys()));
        if (!refusal.withdrawn().isEmpty()) {
            show(details.putArray("withdrawn"), refusal.withdrawn());
        }
        return ErrorBody.of(
                403,
                "FORBIDDEN",
                "Subject '%s'%s has no active grant for %s%s; %s."
                        .formatted(
                                refusal.subject(),
                                Refusals.with(refusal.actor()),
                                Refusals.keys(refusal.deniedKeys()),
                                because(refusal),
                                advice(requestable)),
                details);
    }

    private static void show(ArrayNode list, List<WithdrawnAccess> withdrawn) {
        for (WithdrawnAccess access : withdrawn) {
            ObjectNode own =
                    list.addObject()
                            .put("key", access.key())
                            .put("request", access.request().toString())
                            .put("at", Timestamps.text(access.at().truncatedTo(ChronoUnit.MILLIS)));
            access.by().ifPresent(by -> own.put("by", by));
        }
    }

    /** Names grants that are only too short; empty if there are none. */
    private static String tooShort(List<TooShortGrant> grants) {
        return grants.isEmpty()
                ? ""
                : grants.stream()
                        .map(grant ->
                                "a grant allows key '%s' for %d s, but the key's shortest credential is valid for %d s"
                                        .formatted(
                                                grant.key(),
                                                grant.left().toSeconds(),
                                                grant.least().toSeconds()))
                        .collect(Collectors.joining("; ", " (", ")"));
    }

    /** Names keys that are granted for other networks; empty if there are none. */
    private static String elsewhere(Optional<OtherNetworks> elsewhere) {
        return elsewhere
                .map(other ->
                        " (a grant allows %s from other networks, not from %s)"
                                .formatted(Refusals.keys(other.keys()), other.address()))
                .orElse("");
    }

    /** Names access that was withdrawn; empty if none was. */
    private static String withdrawn(List<WithdrawnAccess> withdrawn) {
        return withdrawn.isEmpty()
                ? ""
                : withdrawn.stream()
                        .map(access ->
                                access.by()
                                        .map(by ->
                                                "%s withdrew the access of request %s to key '%s'"
                                                        .formatted(
                                                                by, access.request(), access.key()))
                                        .orElseGet(() ->
                                                "the access of request %s to key '%s' was given back"
                                                        .formatted(access.request(), access.key())))
                        .collect(Collectors.joining("; ", " (", ")"));
    }
}
