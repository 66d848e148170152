package io.mintmark.provider.githubapp;

import static io.mintmark.base.outbound.ServiceAnswer.unless;

import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.ServiceAnswer;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.Undo;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TimedToken;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** GitHub's answer to a request for a token, or for the end of one. */
record GitHubAnswer(Reply reply, Endpoint api) {
    private static final int CREATED = 201;

    /** GitHub adds it to each token that has access to repositories. */
    private static final Map<String, String> ALWAYS = Map.of("metadata", "read");

    /**
     * The credential, if it is what was asked for.
     *
     * @param further fields of the credential, none of them secret
     * @param undo how a token is ended
     */
    MintResult result(Access access, Map<String, String> further, Function<Secret, Undo> undo) {
        if (!reply.isSuccess()) {
            return failure();
        }
        ServiceAnswer answer = reply.answer();
        Optional<Secret> given = answer.token("token");
        if (given.isEmpty()) {
            return Calls.failed(Reason.PROVIDER_ERROR, "the answer has no token", api);
        }
        Secret token = given.get();
        Optional<Instant> expiry = answer.time("expires_at");
        return objection(access, token, expiry)
                .<MintResult>map(why ->
                        Calls.withheld(new TimedToken(token, expiry), why, api)
                                .endedBy(undo.apply(token)))
                .orElseGet(() ->
                        Minted.ofToken(token, expiry.orElseThrow(), further)
                                .endedBy(undo.apply(token)));
    }

    private Optional<String> objection(Access access, Secret token, Optional<Instant> expiry) {
        ServiceAnswer answer = reply.answer();
        return answer.objection(token)
                .or(() -> unless(reply.status() == CREATED, "the answer's status isn't 201"))
                .or(() -> unless(expiry.isPresent(), "the answer has no readable expires_at"))
                .or(() ->
                        unless(
                                answer.isExactly("permissions", access.permissions(), ALWAYS),
                                "the token's permissions are not those asked for: "
                                        + answer.quote("permissions")))
                .or(() ->
                        unless(
                                access.all() || isWithin(access, answer),
                                "the token isn't limited to the repositories asked for"));
    }

    private static boolean isWithin(Access access, ServiceAnswer answer) {
        return access.repositories().isEmpty()
                ? answer.listsOnly("repositories", "id", Set.copyOf(access.repositoryIds()))
                : answer.listsOnly("repositories", "name", Set.copyOf(access.repositories()));
    }

    /** Why GitHub did not do what it was asked. */
    Failed failure() {
        String message = reply.answer().words("message").orElse("no message");
        return Calls.failed(
                meaning(message.toLowerCase(Locale.ROOT)),
                "%s (HTTP %d)".formatted(message, reply.status()),
                api);
    }

    /** docs.github.com, "Rate limits for the REST API" and "Troubleshooting the REST API". */
    private Reason meaning(String message) {
        return switch (reply.status()) {
            case 403 ->
                    reply.isThrottled() || message.contains("rate limit")
                            ? Reason.PROVIDER_THROTTLED
                            : Reason.PROVIDER_REJECTED;
            case 422 ->
                    message.contains("not granted")
                            ? Reason.PROVIDER_REJECTED
                            : Reason.PROVIDER_MISCONFIGURED;
            default -> Calls.meaning(reply.status());
        };
    }
}
