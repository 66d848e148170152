package io.mintmark.mint.gcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.Step;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The three ways to a token of Google's. Sources: the methods {@code token} of the Security Token
 * Service API v1 and {@code projects.serviceAccounts.generateAccessToken} of the IAM Service
 * Account Credentials API v1.
 */
final class GoogleTokens {
    static final String CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform";

    private static final String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
    private static final String JWT = "urn:ietf:params:oauth:token-type:jwt";

    /** It becomes a header's value. */
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]+");

    /** What can be added to any time of ours. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** Years of four digits; what Java can read beyond them, the audit log couldn't store. */
    private static final Pattern RFC_3339 = Pattern.compile("\\d{4}-.+");

    private final GoogleCalls calls;
    private final InstantSource clock;

    GoogleTokens(GoogleCalls calls, InstantSource clock) {
        this.calls = calls;
        this.clock = clock;
    }

    /**
     * A token of the federated identity. Where it only serves to ask for a service account's, that
     * one has the key's scopes, and this one the scope that asking takes.
     *
     * @param shown the broker's token
     */
    Step<GoogleToken> federated(
            MintOrder order, GoogleProviderSettings provider, GoogleKeySettings key, Secret shown) {
        String scope =
                key.serviceAccount().isPresent() ? CLOUD_PLATFORM : String.join(" ", key.scopes());
        return exchange(
                order,
                provider,
                exchanging(shown, JWT)
                        .put("audience", provider.identityProvider())
                        .put("scope", scope),
                shown);
    }

    /** A token of the key's service account, which is asked for with a federated one. */
    Step<GoogleToken> ofAccount(
            MintOrder order,
            GoogleProviderSettings provider,
            GoogleKeySettings key,
            GoogleToken federated) {
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
    Step<GoogleToken> bounded(
            MintOrder order,
            GoogleProviderSettings provider,
            AccessBoundary boundary,
            GoogleToken source) {
        return exchange(
                        order,
                        provider,
                        exchanging(source.text(), ACCESS_TOKEN).put("options", boundary.options()),
                        source.text())
                .then(token ->
                        new Done<>(
                                new GoogleToken(
                                        token.text(), token.expiresAt().or(source::expiresAt))));
    }

    private static ObjectNode exchanging(Secret token, String type) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("grantType", "urn:ietf:params:oauth:grant-type:token-exchange")
                .put("requestedTokenType", ACCESS_TOKEN)
                .put("subjectToken", token.reveal())
                .put("subjectTokenType", type);
    }

    private Step<GoogleToken> exchange(
            MintOrder order, GoogleProviderSettings provider, ObjectNode body, Secret shown) {
        return calls.ask(shown, provider.sts(), "/v1/token", body, order)
                .then(answer -> exchanged(provider.sts(), answer));
    }

    private Step<GoogleToken> exchanged(Endpoint sts, JsonNode answer) {
        JsonNode text = answer.path("access_token");
        if (!answer.has("expires_in")) {
            return token(sts, text, Optional.empty());
        }
        long seconds = answer.path("expires_in").asLong(0);
        return seconds > 0 && seconds <= LONGEST.toSeconds()
                ? token(sts, text, Optional.of(clock.instant().plusSeconds(seconds)))
                : stopped("the answer's expires_in can't be", sts);
    }

    private static Step<GoogleToken> ofAccount(Endpoint iam, JsonNode answer) {
        String expiry = answer.path("expireTime").asText();
        try {
            return RFC_3339.matcher(expiry).matches()
                    ? token(
                            iam,
                            answer.path("accessToken"),
                            Optional.of(OffsetDateTime.parse(expiry).toInstant()))
                    : stopped("the answer doesn't say when the token expires", iam);
        } catch (DateTimeException e) {
            return stopped("the answer's expireTime isn't a time", iam);
        }
    }

    private static Step<GoogleToken> token(
            Endpoint endpoint, JsonNode text, Optional<Instant> expiresAt) {
        return text.isTextual() && TOKEN.matcher(text.textValue()).matches()
                ? new Done<>(new GoogleToken(new Secret(text.textValue()), expiresAt))
                : stopped("the answer has no token", endpoint);
    }

    private static Step<GoogleToken> stopped(String why, Endpoint endpoint) {
        return new Stopped<>(Calls.failed(Reason.PROVIDER_ERROR, why, endpoint));
    }
}
