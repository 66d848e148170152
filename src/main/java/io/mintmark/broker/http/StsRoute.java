package io.mintmark.broker.http;

import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.Credentials;
import io.mintmark.broker.exchange.Exchange;

import org.slf4j.MDC;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * {@code AssumeRoleWithWebIdentity} in the query protocol of AWS STS, for tools that have {@code
 * AWS_ENDPOINT_URL_STS}, {@code AWS_WEB_IDENTITY_TOKEN_FILE} and {@code AWS_ROLE_ARN} built in.
 */
final class StsRoute implements HttpService {
    static final String PATH = "/sdk/sts";

    /** The path of SDKs that append the path of STS, which is a slash. */
    static final String PATH_OF_SDKS = PATH + "/";

    private static final Map<String, String> OUTPUTS =
            Map.of(
                    "AccessKeyId", "AccessKeyId",
                    "SecretAccessKey", "SecretAccessKey",
                    "SessionToken", "SessionToken");

    private final Exchange exchange;
    private final CredentialFormat format;
    private final MintRequests requests;
    private final Answers answers;

    StsRoute(Exchange exchange, MintRequests requests, Answers answers) {
        this.exchange = exchange;
        this.format = exchange.format(OUTPUTS).repeatingToken();
        this.requests = requests;
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.post(PATH, MatchedRoute.of(PATH, this::handle))
                .post(PATH_OF_SDKS, MatchedRoute.of(PATH, this::handle));
    }

    private void handle(ServerRequest request, ServerResponse response) {
        switch (FormParameters.of(parameters(request))) {
            case Verdict.Refused<FormParameters>(var refusal) ->
                    refuse(request, response, StsError.of(refusal));
            case Verdict.Passed<FormParameters>(FormParameters form) -> {
                switch (StsForm.of(form)) {
                    case StsForm.Invalid(StsError error) -> refuse(request, response, error);
                    case StsForm.Valid valid -> mint(request, response, valid);
                }
            }
        }
    }

    /**
     * The body, or the query where there is no body: Rust's object_store sends its POST so, and no
     * setting changes that.
     */
    private static byte[] parameters(ServerRequest request) {
        String query = request.prologue().query().rawValue();
        boolean hasBody =
                request.content().hasEntity() && request.headers().contentLength().orElse(1) != 0;
        return query.isEmpty() || hasBody
                ? Bodies.form(request)
                : query.getBytes(StandardCharsets.ISO_8859_1);
    }

    private void mint(ServerRequest request, ServerResponse response, StsForm.Valid form) {
        Verdict<Credentials> verdict =
                TokenPlaces.withActor(request, Verdict.passed(form.token()))
                        .map(token ->
                                requests.of(request, token, form.role(), form.lifetime(), format))
                        .then(exchange::mint);
        if (!(verdict instanceof Verdict.Refused<Credentials>(TokenRefusal _))) {
            form.sessionName().ifPresent(name -> MDC.put("roleSessionName", name));
        }
        String requestId = RequestIds.of(request);
        answers.sendContent(
                request,
                response,
                verdict,
                credentials -> StsContent.credentials(credentials, requestId),
                StsError::of);
    }

    private void refuse(ServerRequest request, ServerResponse response, StsError error) {
        answers.refuse(request, response, new BadField("body", error.message()), error);
    }
}
