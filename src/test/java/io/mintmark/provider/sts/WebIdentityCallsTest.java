package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.SentSecrets;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintingBroker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.PolicyDescriptorType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** The broker's own call and the SDK's, side by side at one server. */
class WebIdentityCallsTest {
    private static final Sender ACME = new Sender("acme", () -> {});
    private static final String TOKEN =
            "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ0ZW5hbnQ6YWNtZSJ9.c2lnbmF0dXJl";
    private final Destinations allowed = new Destinations(List.of("127.0.0.1"));
    private final TenantHttpClients http = new TenantHttpClients(allowed);
    private final StsClients clients = new StsClients(http, MintingBroker.AMBIENT);
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private volatile int status = 200;
    private volatile String answer = "";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        clients.close();
        http.close();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.add(
                    "%s %s %s %s"
                            .formatted(
                                    exchange.getRequestMethod(),
                                    exchange.getRequestURI(),
                                    exchange.getRequestHeaders().getFirst("Content-Type"),
                                    new String(
                                            exchange.getRequestBody().readAllBytes(),
                                            StandardCharsets.UTF_8)));
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("x-amz-request-id", "of-the-header");
            exchange.getResponseHeaders().set("Location", "/elsewhere");
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/sts", "/a%2Fb/c"})
    void both_send_the_same(String path) {
        answer = whole("2030-01-02T03:04:05Z");
        var full =
                AssumeRoleWithWebIdentityRequest.builder()
                        .roleArn("arn:aws:iam::123456789012:role/a+b=c,d.e@f-g")
                        .policyArns(
                                PolicyDescriptorType.builder()
                                        .arn("arn:aws:iam::aws:policy/A")
                                        .build(),
                                PolicyDescriptorType.builder()
                                        .arn("arn:aws:iam::aws:policy/B")
                                        .build())
                        .policy("{\"Version\": \"2012-10-17\", \"x\": \"é €~*'()&=+%\"}");
        for (var request : List.of(full, AssumeRoleWithWebIdentityRequest.builder())) {
            assertEquals(bySdk(path, request).get(), byUs(path, request).get());
        }

        assertEquals(4, requests.size());
        assertEquals(requests.get(0), requests.get(1));
        assertEquals(requests.get(2), requests.get(3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2030-01-02T03:04:05Z",
                "2030-01-02T03:04:05.678Z",
                "2030-01-02T03:04:05+02:00",
                "tomorrow",
                "",
            })
    void both_read_the_same(String expiration) {
        answer = whole(expiration);

        assertEquals(outcome(bySdk("", usual())), outcome(byUs("", usual())));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    400 | <ErrorResponse><Error><Code>ValidationError</Code><Message>a &lt; b</Message></Error><RequestId>r1</RequestId></ErrorResponse>
                    403 | <ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>
                    400 | <x:ErrorResponse xmlns:x="urn:x"><x:Error><x:Code>IDPRejectedClaim</x:Code><x:Message/></x:Error></x:ErrorResponse>
                    400 | <ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ0ZW5hbnQ6YWNtZSJ9.c2lnbmF0dXJl</Message></Error></ErrorResponse>
                    429 | <ErrorResponse><Error><Code>Busy</Code></Error></ErrorResponse>
                    400 | <Error><Code>Throttling</Code></Error>
                    500 | <html><body>Oops</body></html>
                    502 | <html><body>Oops
                    404 | {"error": "x"}
                    307 | ''
                    200 | ''
                    200 | it works
                    200 | <html><body>Welcome
                    200 | <AssumeRoleWithWebIdentityResponse/>
                    200 | <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>A</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
                    """)
    void both_understand_the_same(int code, String body) {
        status = code;
        answer = body;

        String expected = outcome(bySdk("", usual()));
        int tries = requests.size();

        assertEquals(expected, outcome(byUs("", usual())));
        assertEquals(2 * tries, requests.size(), "as often");
    }

    @Test
    void a_document_that_is_made_to_harm_is_not_read() {
        String laughs =
                "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c"
                        + " \"&b;&b;&b;&b;&b;&b;&b;&b;\">]>";
        String external = "<!DOCTYPE x [<!ENTITY c SYSTEM \"file:///etc/passwd\">]>";
        for (String hostile :
                List.of(
                        laughs + whole("2030-01-02T03:04:05Z").replace("ASIA", "&c;"),
                        external + whole("2030-01-02T03:04:05Z").replace("ASIA", "&c;"),
                        external + whole("2030-01-02T03:04:05Z"),
                        whole("2030-01-02T03:04:05Z").replace("ASIA", "&c;"),
                        whole("2030-01-02T03:04:05Z")
                                .replace(
                                        "<AccessKeyId>",
                                        "<AccessKeyId>other</AccessKeyId><AccessKeyId>"),
                        "<a>".repeat(80_000),
                        "\uD800<a/>",
                        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>".concat("<a b=\"".repeat(9)),
                        whole("2030-01-02T03:04:05Z") + "<b/>")) {
            answer = hostile;

            String outcome = outcome(byUs("", usual()));

            assertTrue(outcome.contains("the response can't be parsed"), outcome);
        }
    }

    @Test
    void in_a_refusal_it_says_nothing() {
        status = 400;
        answer =
                "<!DOCTYPE x [<!ENTITY c SYSTEM \"file:///etc/passwd\">]>"
                        + "<ErrorResponse><Error><Code>A</Code><Message>&c;</Message></Error></ErrorResponse>";

        String outcome = outcome(byUs("", usual()));

        assertTrue(outcome.contains("no error code: no message (HTTP 400"), outcome);
    }

    private static String whole(String expiration) {
        return """
        <?xml version="1.0" encoding="UTF-8"?>
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult>
            <AssumedRoleUser><Arn>arn</Arn><AssumedRoleId>id</AssumedRoleId></AssumedRoleUser>
            <Credentials>
              <AccessKeyId>ASIA&#x31;</AccessKeyId>
              <SecretAccessKey><![CDATA[a<b]]>&amp;c</SecretAccessKey>
              <SessionToken>token</SessionToken><Expiration>%s</Expiration>
            </Credentials>
            <PackedPolicySize>6</PackedPolicySize>
          </AssumeRoleWithWebIdentityResult>
          <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>
        </AssumeRoleWithWebIdentityResponse>
        """
                .strip()
                .formatted(expiration);
    }

    private static AssumeRoleWithWebIdentityRequest.Builder usual() {
        return AssumeRoleWithWebIdentityRequest.builder()
                .roleArn("arn:aws:iam::123456789012:role/a");
    }

    private static AssumeRoleWithWebIdentityRequest complete(
            AssumeRoleWithWebIdentityRequest.Builder request) {
        return request.roleSessionName("mint.1")
                .durationSeconds(3600)
                .webIdentityToken(TOKEN)
                .build();
    }

    private StsEndpoint sts(String path) {
        return new StsEndpoint(
                Endpoint.at("http://127.0.0.1:" + server.getAddress().getPort() + path),
                "eu-central-1",
                StsEndpoint.Use.WEB_IDENTITY);
    }

    private Supplier<Credentials> byUs(
            String path, AssumeRoleWithWebIdentityRequest.Builder request) {
        return () ->
                clients.unsigned(MintingBroker.calls(allowed))
                        .assumeRole(
                                sts(path),
                                ACME,
                                complete(request),
                                new SentSecrets(List.of(new Secret(TOKEN))),
                                InstantSource.system().instant().plusSeconds(10));
    }

    private Supplier<Credentials> bySdk(
            String path, AssumeRoleWithWebIdentityRequest.Builder request) {
        return () ->
                ScopedValue.where(TenantTransport.SENDER, ACME)
                        .call(() ->
                                clients.to(sts(path))
                                        .assumeRoleWithWebIdentity(complete(request))
                                        .credentials());
    }

    /** The credentials, or what is told of the failure. */
    private String outcome(Supplier<Credentials> call) {
        try {
            Credentials credentials = call.get();
            return credentials == null || credentials.accessKeyId() == null
                    ? "no credentials"
                    : credentials + credentials.secretAccessKey() + credentials.sessionToken();
        } catch (SdkException e) {
            return StsFailures.of(e, sts(""))
                    .toString()
                    .replace(TOKEN, "[secret]")
                    .replace("[token]", "[secret]");
        }
    }
}
