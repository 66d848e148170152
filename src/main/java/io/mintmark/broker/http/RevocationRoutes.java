package io.mintmark.broker.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.broker.revocation.ListIssuer;
import io.mintmark.broker.revocation.RevocationLists;
import io.mintmark.broker.revocation.RevocationLists.RevocationList;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Function;

/** The lists of ended certificates that servers fetch (HTTP API section 4.11). */
final class RevocationRoutes implements HttpService {
    static final String SSH = "/ssh/{tenant}/krl";
    static final String X509 = "/x509/{tenant}/{provider}/crl";

    private static final int PEM_LINE = 64;

    private static final Header BYTES =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/octet-stream");

    /** RFC 2585 section 4.2. */
    private static final Header CRL =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/pkix-crl");

    private final RevocationLists lists;
    private final Answers answers;

    RevocationRoutes(RevocationLists lists, Answers answers) {
        this.lists = lists;
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.get(SSH, MatchedRoute.of(SSH, this::ssh))
                .get(X509, MatchedRoute.of(X509, this::x509));
    }

    private void ssh(ServerRequest request, ServerResponse response) {
        send(
                request,
                response,
                lists.ofTenant("ssh", parameter(request, "tenant")),
                list -> new Content(BYTES, list));
    }

    private void x509(ServerRequest request, ServerResponse response) {
        ListIssuer authority =
                new ListIssuer(
                        "x509", parameter(request, "tenant"), parameter(request, "provider"));
        send(
                request,
                response,
                lists.of(authority),
                SignRoute.wantsText(request)
                        ? list -> new Content(SignRoute.TEXT, pem(list))
                        : list -> new Content(CRL, list));
    }

    private static String parameter(ServerRequest request, String name) {
        return request.path().pathParameters().get(name);
    }

    private void send(
            ServerRequest request,
            ServerResponse response,
            Optional<RevocationList> found,
            Function<byte[], Content> written) {
        if (found.isEmpty()) {
            answers.send(
                    request,
                    response,
                    ErrorBody.of(
                            404,
                            "NOT_FOUND",
                            "This revocation list does not exist. The list of a new access provider"
                                    + " appears within a minute."));
            return;
        }
        Content content = written.apply(found.get().content());
        response.header(
                HeaderValues.create(
                        HeaderNames.CACHE_CONTROL,
                        "public, max-age=" + found.get().usable().toSeconds()));
        answers.send(response, content.type(), content.bytes());
    }

    /** RFC 7468 section 6. */
    private static byte[] pem(byte[] list) {
        return "-----BEGIN X509 CRL-----\n%s\n-----END X509 CRL-----\n"
                .formatted(Base64.getMimeEncoder(PEM_LINE, new byte[] {'\n'}).encodeToString(list))
                .getBytes(StandardCharsets.US_ASCII);
    }
}
