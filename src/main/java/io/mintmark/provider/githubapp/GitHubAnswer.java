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

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * GitHub's answer to a request for a token, or for the end of one.
 *
 * @param received when it came
 */
record GitHubAnswer(Reply reply, Endpoint api, Instant received) {
    private static final int CREATED = 201;

    /** The lifetime of every token: "Installation access tokens expire after 1 hour". */
    private static final Duration LIFE = Duration.ofHours(1);

    /** The deviation of GitHub's clock up to which nothing is logged. */
    private static final Duration TOLERANCE = Duration.ofSeconds(60);

    /**
     * The deviation of GitHub's clock above which GitHub can't have accepted the broker's
     * assertion. A later expiry has another cause.
     */
    private static final Duration MOST_AHEAD = Duration.ofMinutes(6);

    /** GitHub's messages for an assertion whose times don't match its clock. */
    private static final List<String> TIMES = List.of("claim ('exp')", "claim ('iat')");

    /** The permissions that GitHub adds to each token with access to repositories. */
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
            return Calls.failed(Reason.PROVIDER_ERROR, "the response has no token", api);
        }
        Secret token = given.get();
        Optional<Instant> expiry = answer.time("expires_at");
        return objection(access, token, expiry)
                .<MintResult>map(why ->
                        Calls.withheld(new TimedToken(token, expiry), why.detail(), api)
                                .because(why.reason())
                                .endedBy(undo.apply(token)))
                .orElseGet(() ->
                        minted(token, expiry.orElseThrow(), further).endedBy(undo.apply(token)));
    }

    /**
     * A token that seems to live for over an hour comes from a clock that is ahead, and is no
     * reason to throw it away and make the next.
     */
    private Minted minted(Secret token, Instant expiry, Map<String, String> further) {
        Instant expected = received.plus(LIFE);
        Duration ahead = Duration.between(expected, expiry);
        return ahead.compareTo(TOLERANCE) > 0 && ahead.compareTo(MOST_AHEAD) <= 0
                ? Minted.ofToken(token, expected, further)
                        .noted(
                                "GitHub's clock is %d s ahead of the broker's; compare both clocks"
                                        .formatted(ahead.toSeconds()))
                : Minted.ofToken(token, expiry, further);
    }

    /** The reason why a token is withheld. */
    private record Objection(Reason reason, String detail) {}

    private Optional<Objection> objection(Access access, Secret token, Optional<Instant> expiry) {
        return fault(access, token, expiry)
                .map(why -> new Objection(Reason.PROVIDER_ERROR, why))
                .or(() ->
                        access.all() || isWithin(access, reply.answer())
                                ? Optional.empty()
                                : Optional.of(elsewhere(access)));
    }

    /**
     * GitHub follows the old name of a repository, and answers with the new one: as many
     * repositories as asked for, under other names. Another try would have the same answer.
     */
    private Objection elsewhere(Access access) {
        List<String> given = reply.answer().listed("repositories", "name");
        List<String> renamed = missing(given, access.repositories());
        return given.size() == access.repositories().size() && !renamed.contains("")
                ? new Objection(
                        Reason.PROVIDER_MISCONFIGURED,
                        "GitHub renamed the repository '%s' to '%s'; write the new name, or repository_ids, into the key's settings"
                                .formatted(
                                        String.join("', '", missing(access.repositories(), given)),
                                        String.join("', '", renamed)))
                : new Objection(
                        Reason.PROVIDER_ERROR,
                        "the token isn't limited to the requested repositories");
    }

    private static List<String> missing(List<String> names, List<String> among) {
        return names.stream()
                .filter(name -> among.stream().noneMatch(name::equalsIgnoreCase))
                .toList();
    }

    private Optional<String> fault(Access access, Secret token, Optional<Instant> expiry) {
        ServiceAnswer answer = reply.answer();
        return answer.objection(token)
                .or(() -> unless(reply.status() == CREATED, "the response's status isn't 201"))
                .or(() -> unless(expiry.isPresent(), "the response has no valid expires_at"))
                .or(() ->
                        unless(
                                answer.isExactly("permissions", access.permissions(), ALWAYS),
                                "the token's permissions are not the requested ones: "
                                        + answer.quote("permissions")));
    }

    private static boolean isWithin(Access access, ServiceAnswer answer) {
        return access.repositories().isEmpty()
                ? answer.listsOnly("repositories", "id", Set.copyOf(access.repositoryIds()))
                : answer.listsOnly("repositories", "name", Set.copyOf(access.repositories()));
    }

    /** The reason why GitHub did not do what was requested. */
    Failed failure() {
        String message = reply.answer().words("message").orElse("no message");
        String clocks =
                TIMES.stream().anyMatch(message::contains)
                        ? "; compare GitHub's clock with the broker's"
                        : "";
        return Calls.failed(
                meaning(message.toLowerCase(Locale.ROOT)),
                "%s (HTTP %d)%s".formatted(message, reply.status(), clocks),
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
