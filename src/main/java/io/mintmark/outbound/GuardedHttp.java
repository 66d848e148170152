package io.mintmark.outbound;

import io.mintmark.outbound.OutboundFailure.Kind;

import org.apache.hc.client5.http.classic.HttpClient;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.HttpStatus;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks hosts that tenants and operators named: for small public documents such as key sets, and for
 * credentials. What such a host can do to the broker is bounded in place, time and size.
 */
public final class GuardedHttp {
    private static final Limits LIMITS = new Limits(1 << 20, Duration.ofSeconds(5));

    private final Destinations destinations;
    private final Limits limits;
    private final TlsSocketStrategy publicTrust = Trust.publicAuthorities();

    /**
     * What an answer may take.
     *
     * @param bytes of its body
     * @param time from the look-up of the name to the last byte of a document
     */
    record Limits(int bytes, Duration time) {}

    private interface Reading<T> {
        T of(ClassicHttpResponse answer) throws IOException;
    }

    public GuardedHttp(Destinations destinations) {
        this(destinations, LIMITS);
    }

    GuardedHttp(Destinations destinations, Limits limits) {
        this.destinations = destinations;
        this.limits = limits;
    }

    /**
     * Reads whom the Java platform trusts, which takes some tens of milliseconds, ahead of the
     * first connection.
     *
     * @throws GeneralSecurityException if it can't be read, as where {@code
     *     javax.net.ssl.trustStore} names something else
     */
    public static void readAuthorities() throws GeneralSecurityException {
        var _ = Trust.platform();
    }

    /**
     * The body of a 200 answer: at most 1 MiB, complete within 5 s, neither redirected nor
     * compressed.
     *
     * @param address an https URL; http only if the host is a loopback one
     * @param caCertificate PEM of the only authority that the host's certificate may come from;
     *     without it the Java platform's authorities count
     */
    public byte[] get(String address, Optional<String> caCertificate) throws OutboundFailure {
        return get(
                WebAddress.ofDocument(address),
                caCertificate.isPresent() ? Trust.only(caCertificate.get()) : publicTrust);
    }

    /**
     * The same of a service that the operator chose: the platform's authorities count.
     *
     * @param address an https URL; http only if the host is a loopback one or listed in {@code
     *     OUTBOUND_ALLOWED_HOSTS}
     */
    public byte[] getOfService(String address) throws OutboundFailure {
        return get(WebAddress.ofService(address, destinations), publicTrust);
    }

    private byte[] get(WebAddress target, TlsSocketStrategy trust) throws OutboundFailure {
        HttpGet request = new HttpGet(target.uri());
        return ask(
                request,
                limits.time(),
                () ->
                        once(
                                trust,
                                limits.time(),
                                request,
                                answer -> document(target.host(), answer)));
    }

    /**
     * What a service answers to a request, whatever its status: at most 64 KiB, neither redirected
     * nor compressed. It is sent once.
     *
     * @param patience from the look-up of the name to the last byte
     */
    public Reply post(Post post, Duration patience) throws OutboundFailure {
        HttpPost request = request(post);
        Reading<Reply> reading = reading(request, post);
        return ask(request, patience, () -> once(publicTrust, patience, request, reading));
    }

    /** The same over a connection that a client keeps. */
    Reply post(HttpClient client, Post post, Duration patience) throws OutboundFailure {
        HttpPost request = request(post);
        Reading<Reply> reading = reading(request, post);
        return ask(request, patience, () -> exchange(client, request, reading));
    }

    private HttpPost request(Post post) throws OutboundFailure {
        HttpPost request = new HttpPost(WebAddress.ofService(post.address(), destinations).uri());
        byte[] body = post.body().reveal().getBytes(StandardCharsets.UTF_8);
        request.setEntity(new ByteArrayEntity(body, ContentType.create(post.mediaType())));
        request.setHeader(HttpHeaders.ACCEPT, "application/json");
        request.setHeader(HttpHeaders.ACCEPT_ENCODING, "identity");
        post.headers().forEach(request::setHeader);
        return request;
    }

    private static Reading<Reply> reading(HttpPost request, Post post) {
        var sent = new SentSecrets(post.secrets());
        return answer -> reply(host(request), answer, sent);
    }

    private static <T> T ask(HttpUriRequestBase request, Duration patience, Callable<T> exchange)
            throws OutboundFailure {
        var call = new FutureTask<>(exchange);
        Thread.ofVirtual().name("outbound").start(call);
        try {
            return call.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw HttpFailures.of(host(request), e.getCause());
        } catch (TimeoutException e) {
            throw HttpFailures.timedOut(host(request), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw HttpFailures.timedOut(host(request), e);
        } finally {
            // an interrupt closes the socket that a virtual thread waits on
            call.cancel(true);
        }
    }

    private <T> T once(
            TlsSocketStrategy trust,
            Duration patience,
            HttpUriRequestBase request,
            Reading<T> reading)
            throws IOException {
        try (var client = OneConnection.open(destinations.resolver(), trust, patience)) {
            return exchange(client, request, reading);
        }
    }

    private static <T> T exchange(HttpClient client, HttpUriRequestBase request, Reading<T> reading)
            throws IOException {
        return client.execute(request, answer -> readOrCut(request, answer, reading));
    }

    private static String host(HttpUriRequestBase request) {
        return request.getAuthority().getHostName();
    }

    /** Where the body isn't wanted the connection is cut; the client would read to its end. */
    private static <T> T readOrCut(
            HttpUriRequestBase request, ClassicHttpResponse answer, Reading<T> reading)
            throws IOException {
        try {
            requirePlain(host(request), answer);
            return reading.of(answer);
        } catch (OutboundFailure e) {
            request.abort();
            throw e;
        }
    }

    private byte[] document(String host, ClassicHttpResponse answer) throws IOException {
        if (answer.getCode() != HttpStatus.SC_OK) {
            throw new OutboundFailure(
                    Kind.STATUS, host + " answered with status " + answer.getCode());
        }
        return body(host, answer, limits.bytes());
    }

    private static Reply reply(String host, ClassicHttpResponse answer, SentSecrets sent)
            throws IOException {
        byte[] body = body(host, answer, ServiceAnswer.LONGEST);
        return new Reply(
                answer.getCode(),
                ServiceAnswer.of(body, sent),
                Optional.ofNullable(answer.getFirstHeader(HttpHeaders.RETRY_AFTER))
                        .map(Header::getValue));
    }

    private static byte[] body(String host, ClassicHttpResponse answer, int most)
            throws IOException {
        if (answer.getEntity() == null) {
            return new byte[0];
        }
        byte[] body = answer.getEntity().getContent().readNBytes(most + 1);
        if (body.length > most) {
            throw new OutboundFailure(
                    Kind.TOO_LARGE, host + " answered with over " + most + " bytes");
        }
        return body;
    }

    private static void requirePlain(String host, ClassicHttpResponse answer)
            throws OutboundFailure {
        int status = answer.getCode();
        if (status >= HttpStatus.SC_REDIRECTION && status < HttpStatus.SC_CLIENT_ERROR) {
            throw new OutboundFailure(
                    Kind.REDIRECTED, host + " answered with a redirect, which isn't followed");
        }
        if (answer.containsHeader(HttpHeaders.CONTENT_ENCODING)) {
            throw new OutboundFailure(Kind.ENCODED, host + " answered with an encoded body");
        }
    }
}
