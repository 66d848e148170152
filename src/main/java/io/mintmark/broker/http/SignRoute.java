package io.mintmark.broker.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.Credentials;
import io.mintmark.broker.exchange.Exchange;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Certifies a public key of the client, which keeps the private half. */
final class SignRoute implements Handler {
    static final String PATH = "/sign/{key}";

    private static final String CERTIFICATE = "certificate";
    private static final Map<String, String> OUTPUTS = Map.of(CERTIFICATE, "Certificate");
    private static final Map<String, String> OPTIONAL =
            Map.of(
                    "serial", "Serial",
                    "keyId", "KeyId",
                    "knownHosts", "KnownHosts",
                    "caCertificate", "CaCertificate",
                    "uri", "Uri");
    static final Header TEXT = HeaderValues.create(HeaderNames.CONTENT_TYPE, "text/plain");

    private final Exchange exchange;
    private final CredentialFormat format;
    private final MintRequests requests;
    private final Answers answers;

    SignRoute(Exchange exchange, MintRequests requests, Answers answers) {
        this.exchange = exchange;
        this.format = exchange.format(OUTPUTS, OPTIONAL);
        this.requests = requests;
        this.answers = answers;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        String publicKey = new String(Bodies.content(request), StandardCharsets.ISO_8859_1);
        Verdict<Credentials> verdict =
                AwsSdkRoute.key(request.path().pathParameters().get("key"))
                        .then(key ->
                                TokenPlaces.inHeader(request)
                                        .map(token ->
                                                requests.of(request, token, List.of(key), format)))
                        .then(asked -> exchange.sign(asked, publicKey));
        answers.sendContent(
                request,
                response,
                verdict,
                wantsText(request)
                        ? SignRoute::certificate
                        : credentials -> Content.json(CredentialRoutes.body(credentials)),
                Refusals::of);
    }

    /** Whether the client wants the content as text, and nothing else. */
    static boolean wantsText(ServerRequest request) {
        return request.headers()
                .first(HeaderNames.ACCEPT)
                .filter(accepted -> accepted.contains("text/plain"))
                .isPresent();
    }

    private static Content certificate(Credentials credentials) {
        Map<String, Secret> members = credentials.byKey().values().iterator().next();
        String text = Objects.requireNonNull(members.get(CERTIFICATE)).reveal().stripTrailing();
        return new Content(TEXT, (text + "\n").getBytes(StandardCharsets.US_ASCII));
    }
}
