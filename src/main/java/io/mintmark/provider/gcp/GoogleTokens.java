package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.ServiceAnswer;
import io.mintmark.base.outbound.TokenReply;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;
import io.mintmark.provider.web.TimedToken;
import io.mintmark.provider.web.TokenCalls;

import java.time.Instant;
import java.util.Optional;

/**
 * The three ways to a token of Google's. Sources: the methods {@code token} of the Security Token
 * Service API v1 and {@code projects.serviceAccounts.generateAccessToken} of the IAM Service
 * Account Credentials API v1.
 */
final class GoogleTokens {
    static final String CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform";

    private final GoogleCalls calls;
    private final TokenCalls answers;

    GoogleTokens(GoogleCalls calls, TokenCalls answers) {
        this.calls = calls;
        this.answers = answers;
    }

    /**
     * A token of the federated identity. Where it only serves to ask for a service account's, that
     * one has the key's scopes, and this one the scope that asking takes.
     *
     * @param shown the broker's token
     */
    Step<TimedToken> federated(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key, Secret shown) {
        String scope =
                key.serviceAccount().isPresent() ? CLOUD_PLATFORM : String.join(" ", key.scopes());
        return exchange(
                order,
                provider,
                exchanging(shown, TokenReply.JWT)
                        .put("audience", provider.identityProvider())
                        .put("scope", scope),
                shown);
    }

    /** A token of the key's service account, which is asked for with a federated one. */
    Step<TimedToken> ofAccount(
            MintOrder order,
            GoogleProviderSettings provider,
            GoogleKeySettings key,
            TimedToken federated) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        key.scopes().forEach(body.withArray("scope")::add);
        body.put("lifetime", order.duration().toSeconds() + "s");
        key.delegates()
                .forEach(email ->
                        body.withArray("delegates").add("projects/-/serviceAccounts/" + email));
        String account = key.serviceAccount().orElseThrow();
        return calls.askWith(
                        federated.text(),
                        provider.iam(),
                        "/v1/projects/-/serviceAccounts/" + account + ":generateAccessToken",
                        body,
                        order)
                .then(answer -> ofAccount(provider.iam(), answer));
    }

    /** A token that can do what another can within a boundary, for as long as that other. */
    Step<TimedToken> bounded(
            MintOrder order,
            GoogleProviderSettings provider,
            AccessBoundary boundary,
            TimedToken source) {
        return exchange(
                        order,
                        provider,
                        exchanging(source.text(), TokenReply.ACCESS_TOKEN)
                                .put("options", boundary.options()),
                        source.text())
                .then(token ->
                        new Done<>(
                                new TimedToken(
                                        token.text(), token.expiresAt().or(source::expiresAt))));
    }

    private static ObjectNode exchanging(Secret token, String type) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("grantType", "urn:ietf:params:oauth:grant-type:token-exchange")
                .put("requestedTokenType", TokenReply.ACCESS_TOKEN)
                .put("subjectToken", token.reveal())
                .put("subjectTokenType", type);
    }

    private Step<TimedToken> exchange(
            MintOrder order, GoogleProviderSettings provider, ObjectNode body, Secret shown) {
        return calls.ask(shown, provider.sts(), "/v1/token", body, order)
                .then(reply -> answers.token(reply, provider.sts(), _ -> Optional.empty()));
    }

    private static Step<TimedToken> ofAccount(Endpoint iam, Reply reply) {
        ServiceAnswer answer = reply.answer();
        Optional<Instant> expiry = answer.time("expireTime");
        return answer.token("accessToken")
                .map(text ->
                        checked(
                                new TimedToken(text, expiry),
                                answer.objection(text).or(() -> untimed(expiry)),
                                iam))
                .orElseGet(() ->
                        new Stopped<>(
                                Calls.failed(
                                        Reason.PROVIDER_ERROR, "the response has no token", iam)));
    }

    private static Optional<String> untimed(Optional<Instant> expiry) {
        return expiry.isPresent()
                ? Optional.empty()
                : Optional.of("the response doesn't say when the token expires (expireTime)");
    }

    private static Step<TimedToken> checked(
            TimedToken token, Optional<String> objection, Endpoint iam) {
        return objection
                .<Step<TimedToken>>map(why -> new Stopped<>(Calls.withheld(token, why, iam)))
                .orElseGet(() -> new Done<>(token));
    }
}
