package io.mintmark.broker.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.broker.revocation.ListIssuer;
import io.mintmark.broker.revocation.RevocationLists;
import io.mintmark.broker.revocation.RevocationLists.Form;
import io.mintmark.broker.revocation.RevocationLists.RevocationList;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The lists of revoked certificates that servers fetch (HTTP API section 4.11). */
final class RevocationRoutes implements HttpService {
    static final String SSH = "/ssh/{tenant}/krl";
    static final String X509 = "/x509/{tenant}/{provider}/crl";

    private static final Header BYTES =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/octet-stream");

    /** RFC 2585 section 4.2. */
    private static final Header CRL =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/pkix-crl");

    /** The header {@code Vary}, which replaces the one of the CORS rules and includes it. */
    private static final Header BY_ACCEPT =
            HeaderValues.createCached(HeaderNames.VARY, "Accept, Origin");

    /** RFC 9110 section 5.6.7. The JDK's format has days of one digit. */
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private final RevocationLists lists;
    private final Answers answers;
    private final InstantSource clock;

    /**
     * @param clock the one that the lists use
     */
    RevocationRoutes(RevocationLists lists, Answers answers, InstantSource clock) {
        this.lists = lists;
        this.answers = answers;
        this.clock = clock;
    }

    @Override
    public void routing(HttpRules rules) {
        opened(rules, SSH, this::ssh);
        opened(rules, X509, this::x509);
    }

    /** Adds routes for GET and HEAD. The port omits the body of a response to HEAD. */
    private static void opened(HttpRules rules, String path, Handler list) {
        Handler handler = MatchedRoute.of(path, list);
        rules.get(path, handler).route(Method.HEAD, path, handler);
    }

    private void ssh(ServerRequest request, ServerResponse response) {
        Optional<RevocationList> found = lists.ofTenant("ssh", parameter(request, "tenant"));
        if (found.isEmpty()) {
            missing(request, response);
        } else {
            send(request, response, found.get(), BYTES, found.get().content());
        }
    }

    private void x509(ServerRequest request, ServerResponse response) {
        Optional<RevocationList> found =
                lists.of(
                        new ListIssuer(
                                "x509",
                                parameter(request, "tenant"),
                                parameter(request, "provider")));
        if (found.isEmpty()) {
            missing(request, response);
            return;
        }
        Optional<Form> text = found.get().text().filter(_ -> SignRoute.wantsText(request));
        response.header(BY_ACCEPT);
        send(
                request,
                response,
                found.get(),
                text.isPresent() ? SignRoute.TEXT : CRL,
                text.orElse(found.get().content()));
    }

    private static String parameter(ServerRequest request, String name) {
        return request.path().pathParameters().get(name);
    }

    private void missing(ServerRequest request, ServerResponse response) {
        answers.send(
                request,
                response,
                ErrorBody.of(
                        404,
                        "NOT_FOUND",
                        "This revocation list does not exist. The list of a new access provider"
                                + " appears within a minute."));
    }

    private void send(
            ServerRequest request,
            ServerResponse response,
            RevocationList list,
            Header type,
            Form form) {
        Instant now = clock.instant();
        // not later than Date, even if the clock was set back (RFC 9110 section 8.8.2.1)
        Instant made =
                (list.made().isAfter(now) ? now : list.made()).truncatedTo(ChronoUnit.SECONDS);
        String tag = "\"" + form.tag() + "\"";
        response.header(
                        HeaderValues.create(
                                HeaderNames.CACHE_CONTROL,
                                "public, max-age=" + list.usable().toSeconds()))
                .header(HeaderValues.create(HeaderNames.ETAG, tag))
                // the server's own is up to a second old
                .header(HeaderValues.create(HeaderNames.DATE, DATE.format(now)))
                .header(HeaderValues.create(HeaderNames.LAST_MODIFIED, DATE.format(made)));
        if (isKnown(request, tag, made)) {
            response.status(Status.NOT_MODIFIED_304).send();
        } else {
            answers.sendShared(request, response, new Content(type, form.bytes()));
        }
    }

    /** Whether the client has this very list (RFC 9110 sections 13.1.2, 13.1.3 and 13.2.2). */
    private static boolean isKnown(ServerRequest request, String tag, Instant made) {
        List<String> tags = request.headers().values(HeaderNames.IF_NONE_MATCH);
        return tags.isEmpty()
                ? since(request).filter(since -> !made.isAfter(since)).isPresent()
                : tags.stream()
                        .map(RevocationRoutes::withoutWeakness)
                        .anyMatch(known -> known.equals("*") || known.equals(tag));
    }

    /** The time of a conditional request. An invalid date is ignored (RFC 9110 section 13.1.3). */
    private static Optional<Instant> since(ServerRequest request) {
        try {
            return request.headers().ifModifiedSince().map(ZonedDateTime::toInstant);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String withoutWeakness(String tag) {
        return tag.strip().startsWith("W/") ? tag.strip().substring(2) : tag.strip();
    }
}
