package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.AccessRefusal.KeysDenied;
import io.mintmark.base.verdict.AccessRefusal.KeysMissing;
import io.mintmark.base.verdict.AccessRefusal.SubjectNotFound;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MovedRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.RequestRefusal.BadElements;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.KeyOfOtherType;
import io.mintmark.base.verdict.RequestRefusal.OneTimeToken;
import io.mintmark.base.verdict.RequestRefusal.SharedOutputs;
import io.mintmark.base.verdict.RequestRefusal.TooShort;
import io.mintmark.base.verdict.RequestRefusal.UnacceptedOutputs;
import io.mintmark.base.verdict.RequestRefusal.WrongTarget;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Maps each refusal to its HTTP response; the only place that does. */
final class Refusals {
    private Refusals() {}

    static ErrorBody of(Refusal refusal) {
        return switch (refusal) {
            case RequestRefusal request -> of(request);
            case TokenRefusal token -> TokenRefusals.of(token);
            case AccessRefusal access -> of(access);
            case ApprovalRefusal approval -> ApprovalRefusals.of(approval);
            case LimitRefusal limit -> of(limit);
            case MovedRefusal(String tenant, String url) -> moved(tenant, url);
            case MintRefusal mint -> of(mint);
        };
    }

    static ErrorBody of(Unavailable unavailable) {
        return new ErrorBody(
                503,
                "SERVICE_UNAVAILABLE",
                String.valueOf(unavailable.getMessage()),
                Json.object(),
                Optional.of(unavailable.retryAfter()));
    }

    private static ErrorBody of(RequestRefusal refusal) {
        return switch (refusal) {
            case BadField(String field, String reason) -> badField(field, reason);
            case BadElements(String field, List<String> issues) ->
                    ErrorBody.of(
                            400,
                            "INVALID_REQUEST",
                            "'%s' is not valid: %s".formatted(field, String.join("; ", issues)),
                            with(Json.object().put("field", field), "issues", issues));
            case KeyOfOtherType(String key, String type, List<String> types) ->
                    badField(
                            "key",
                            ("Key '%s' has type '%s'; this endpoint returns credentials of %s "
                                                    + "only;")
                                            .formatted(key, type, String.join(", ", types))
                                    + " POST /credentials/mint returns those of every type.");
            case TooShort(String key, Duration asked, Duration atLeast) ->
                    badField(
                            "duration",
                            "A lifetime of %d seconds is too short; a credential of key '%s' is valid for at least %d seconds."
                                    .formatted(asked.toSeconds(), key, atLeast.toSeconds()));
            case WrongTarget(String reason) -> badField("resource", reason);
            case UnacceptedOutputs(String key, List<String> outputs) -> {
                String reason =
                        ("Key '%s' has the outputs %s, which the header %s does not list; nothing"
                                        + " was minted.")
                                .formatted(
                                        key, String.join(", ", outputs), UnacceptedOutputs.HEADER);
                yield badOutputs(UnacceptedOutputs.HEADER, reason, outputs);
            }
            case SharedOutputs(String key, List<String> outputs) -> {
                String reason =
                        ("Key '%s' and another key of the request have the outputs %s, which the"
                                        + " header %s lists; nothing was minted.")
                                .formatted(key, String.join(", ", outputs), SharedOutputs.HEADER);
                yield badOutputs(SharedOutputs.HEADER, reason, outputs);
            }
            case OneTimeToken(String idp) ->
                    badField(
                            "Authorization",
                            ("Tokens of identity provider '%s' work only once, but clients of this "
                                                    + "endpoint")
                                            .formatted(idp)
                                    + " present theirs repeatedly; use POST "
                                    + "/credentials/mint.");
        };
    }

    private static ErrorBody badOutputs(String header, String reason, List<String> outputs) {
        ErrorBody body = badField(header, reason);
        with(body.details(), "outputs", outputs);
        return body;
    }

    private static ErrorBody badField(String field, String reason) {
        return ErrorBody.of(
                400,
                "INVALID_REQUEST",
                reason,
                Json.object().put("field", field).put("reason", reason));
    }

    private static ErrorBody of(AccessRefusal refusal) {
        return switch (refusal) {
            case KeysDenied denied -> DeniedKeys.body(denied);
            case KeysMissing(String subject, List<String> missing) ->
                    ErrorBody.of(
                            404,
                            "NOT_FOUND",
                            ("The tenant has no %s; GET /credentials/keys lists the keys that the"
                                            + " token may use.")
                                    .formatted(keys(missing)),
                            with(about(subject), "missingKeys", missing));
            case SubjectNotFound(String subject, String idp, Optional<String> actor) ->
                    ErrorBody.of(
                            404,
                            "SUBJECT_NOT_FOUND",
                            "Subject '%s' of identity provider '%s'%s has no active grant."
                                    .formatted(subject, idp, with(actor)),
                            about(subject).put("idp", idp));
        };
    }

    /**
     * Adds the actor to a message. Otherwise a subject with a grant of its own would read that it
     * has none.
     */
    static String with(Optional<String> actor) {
        return actor.map(" with actor '%s'"::formatted).orElse("");
    }

    private static ErrorBody of(LimitRefusal refusal) {
        return RateLimits.exceeded(
                "Tenant '%s' has reached its limit of requests; try again in %d s, at %s."
                        .formatted(
                                refusal.tenant(),
                                refusal.retryAfter().toSeconds(),
                                refusal.resetAt()),
                refusal.limit(),
                refusal.window(),
                refusal.resetAt(),
                refusal.retryAfter());
    }

    private static ErrorBody moved(String tenant, String url) {
        return ErrorBody.of(
                421,
                "TENANT_MOVED",
                "Tenant '%s' moved to another cell; send the request to %s.".formatted(tenant, url),
                Json.object().put("url", url));
    }

    private static ErrorBody of(MintRefusal refusal) {
        return ErrorBody.of(
                500,
                "CREDENTIAL_MINT_FAILED",
                "Access provider '%s' gave no credential for key '%s': %s."
                        .formatted(refusal.provider(), refusal.key(), explained(refusal.reason())),
                Json.object()
                        .put("provider", refusal.provider())
                        .put("key", refusal.key())
                        .put("reason", refusal.reason().word()));
    }

    private static String explained(MintRefusal.Reason reason) {
        return switch (reason) {
            case PROVIDER_TIMEOUT -> "it did not answer in time; try again";
            case PROVIDER_UNREACHABLE -> "it could not be reached; try again";
            case PROVIDER_THROTTLED -> "it limits the call rate; try again later";
            case PROVIDER_REJECTED ->
                    "it denied the call; an admin must check what the key names at the provider, and its permissions";
            case BROKER_IDENTITY_REJECTED ->
                    "it did not accept the broker's identity; an admin must check its trust "
                            + "settings";
            case PROVIDER_MISCONFIGURED ->
                    "its settings are invalid; an admin must correct " + "them";
            case PROVIDER_ERROR ->
                    "it failed; try again, and contact an admin if it keeps " + "failing";
        };
    }

    static String keys(List<String> names) {
        return (names.size() == 1 ? "key " : "keys ") + "'" + String.join("', '", names) + "'";
    }

    static ObjectNode about(String subject) {
        return Json.object().put("subject", subject);
    }

    static ObjectNode with(ObjectNode object, String member, List<String> texts) {
        texts.forEach(object.putArray(member)::add);
        return object;
    }
}
