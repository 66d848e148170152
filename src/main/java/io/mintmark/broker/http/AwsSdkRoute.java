package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.Credentials;
import io.mintmark.broker.exchange.Exchange;

import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/**
 * The container credential provider of the AWS SDKs ({@code AWS_CONTAINER_CREDENTIALS_FULL_URI} in
 * AWS's "SDKs and Tools Reference Guide"), which asks for one key with one token again and again.
 */
final class AwsSdkRoute implements Handler {
    static final String PREFIX = "/sdk/aws/";
    static final String PATH = PREFIX + "{key}";

    private static final Map<String, String> OUTPUTS =
            Map.of(
                    "AccessKeyId", "AccessKeyId",
                    "SecretAccessKey", "SecretAccessKey",
                    "Token", "SessionToken");

    private final Exchange exchange;
    private final CredentialFormat format;
    private final MintRequests requests;
    private final Answers answers;

    AwsSdkRoute(Exchange exchange, MintRequests requests, Answers answers) {
        this.exchange = exchange;
        this.format = exchange.format(OUTPUTS).repeatingToken();
        this.requests = requests;
        this.answers = answers;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        Verdict<Credentials> verdict =
                key(request.path().pathParameters().get("key"))
                        .then(key ->
                                TokenPlaces.inHeaderPerhapsBare(request)
                                        .map(token ->
                                                requests.of(request, token, List.of(key), format)))
                        .then(exchange::mint);
        answers.send(request, response, verdict, AwsSdkRoute::body, AwsSdkError::of);
    }

    /** The key that a path names. */
    static Verdict<KeyName> key(String name) {
        return KeyName.isValid(name)
                ? Verdict.passed(new KeyName(name))
                : Verdict.refused(
                        new RequestRefusal.BadField(
                                "key",
                                "The path must end in the name of a key: a letter, then up to 63"
                                        + " letters, digits, '_', '.' or '-'."));
    }

    private static ObjectNode body(Credentials credentials) {
        ObjectNode body = Json.object();
        Map<String, Secret> members = credentials.byKey().values().iterator().next();
        members.forEach((name, secret) -> body.put(name, secret.reveal()));
        return body.put(
                "Expiration",
                Timestamps.text(credentials.expiresAt().truncatedTo(ChronoUnit.SECONDS)));
    }
}
