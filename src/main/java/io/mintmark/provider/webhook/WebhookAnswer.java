package io.mintmark.provider.webhook;

import static io.mintmark.base.outbound.ServiceAnswer.unless;

import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SentSecrets;
import io.mintmark.base.outbound.ServiceAnswer;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.web.Calls;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** A service's response to a PUT. */
public record WebhookAnswer(Reply reply, Endpoint endpoint) {
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int LONGEST_VALUE = 16 << 10;

    /** Shorter values aren't looked for in pieces: any id may contain those by chance. */
    private static final int SHORTEST_SECRET = 8;

    /**
     * The credential, if it is what was asked for. A service that says that it made one, or gives
     * values, may have made one.
     */
    public MintResult result(WebhookSettings settings, MintId mint) {
        ServiceAnswer answer = reply.answer();
        if (!reply.isSuccess() && !answer.has("values")) {
            return failure();
        }
        Optional<Map<String, Secret>> values = answer.texts("values");
        Optional<Instant> expiry = answer.time("expiresAt");
        String id =
                values.flatMap(given ->
                                answer.id("credentialId").map(name -> shown(name, given.values())))
                        .orElseGet(mint::toString);
        return objection(settings, values)
                .<MintResult>map(why ->
                        new Withheld(
                                id,
                                expiry,
                                Reason.PROVIDER_ERROR,
                                "%s (%s)".formatted(why, endpoint.origin())))
                .orElseGet(() ->
                        minted(settings, values.orElseThrow(), expiry.orElseThrow(), id)
                                .endingByItself(answer.flag("endsByItself").orElse(false)));
    }

    private Optional<String> objection(
            WebhookSettings settings, Optional<Map<String, Secret>> values) {
        ServiceAnswer answer = reply.answer();
        return unless(
                        answer.isReadable(),
                        "the response isn't a JSON object without duplicate fields")
                .or(() ->
                        unless(
                                reply.status() == OK || reply.status() == CREATED,
                                "the response's status is neither 200 nor 201"))
                .or(() ->
                        unless(
                                values.isPresent(),
                                "the response's values aren't an object of strings"))
                .or(() -> objection(settings, values.orElseThrow()))
                .or(() ->
                        unless(
                                answer.time("expiresAt").isPresent(),
                                "the response has no valid expiresAt"))
                .or(() ->
                        unless(
                                answer.id("credentialId").isPresent(),
                                "credentialId in the response must have 1 to 255 ASCII characters, no"
                                        + " spaces, and must not contain the token that was sent"))
                .or(() ->
                        unless(
                                !answer.has("endsByItself")
                                        || answer.flag("endsByItself").isPresent(),
                                "the response's endsByItself is neither true nor false"));
    }

    private Optional<String> objection(WebhookSettings settings, Map<String, Secret> values) {
        return unless(
                        values.size() <= WebhookSettings.MOST_FIELDS,
                        "the response has more than %d values"
                                .formatted(WebhookSettings.MOST_FIELDS))
                .or(() ->
                        settings.fields().stream()
                                .filter(field -> !values.containsKey(field))
                                .sorted()
                                .findFirst()
                                .map("the response lacks the value '%s'"::formatted))
                .or(() ->
                        unless(
                                values.values().stream().allMatch(WebhookAnswer::isFit),
                                "a value is empty, has more than 16 KiB, or has control characters"
                                        + " other than tabs and line feeds"))
                .or(() ->
                        unless(
                                values.values().stream().noneMatch(reply.answer()::repeatsSecretIn),
                                "a value contains the broker's own token"));
    }

    private static boolean isFit(Secret value) {
        String text = value.reveal();
        return !text.isEmpty()
                && text.getBytes(StandardCharsets.UTF_8).length <= LONGEST_VALUE
                && text.chars().noneMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t');
    }

    private static Minted minted(
            WebhookSettings settings, Map<String, Secret> values, Instant expiresAt, String id) {
        Instant expiry = expiresAt.truncatedTo(ChronoUnit.SECONDS);
        Map<String, Secret> fields = new HashMap<>(values);
        fields.keySet().retainAll(settings.fields());
        fields.put(WebhookType.EXPIRATION, new Secret(Timestamps.text(expiry)));
        return new Minted(fields, expiry, id);
    }

    /** The id, or its SHA-256 if the id reveals part of a value. */
    private static String shown(String id, Collection<Secret> values) {
        boolean telling =
                values.stream()
                                .map(Secret::reveal)
                                .anyMatch(value -> value.contains(id) || id.contains(value))
                        || new SentSecrets(
                                        values.stream()
                                                .filter(value -> value.length() >= SHORTEST_SECRET)
                                                .toList())
                                .arePartlyIn(id);
        return telling ? HexFormat.of().formatHex(new Secret(id).hash()) : id;
    }

    /** The reason why the service did not do what was requested. */
    Failed failure() {
        String detail =
                reply.answer()
                        .words("detail")
                        .or(() -> reply.answer().words("title"))
                        .orElse("no detail");
        return Calls.failed(reason(), "%s (HTTP %d)".formatted(detail, reply.status()), endpoint);
    }

    private Reason reason() {
        return switch (reply.status()) {
            case 401 -> Reason.BROKER_IDENTITY_REJECTED;
            case 409 -> Reason.PROVIDER_ERROR;
            default ->
                    switch (reply.answer().code("reason").orElse("")) {
                        case "rejected" -> Reason.PROVIDER_REJECTED;
                        case "misconfigured" -> Reason.PROVIDER_MISCONFIGURED;
                        case "throttled" -> Reason.PROVIDER_THROTTLED;
                        default -> Calls.meaning(reply.status());
                    };
        };
    }
}
