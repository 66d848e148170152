package io.mintmark.base.outbound;

import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.base.outbound.OutboundRequest.Method;

import org.apache.hc.client5.http.classic.methods.HttpGet;
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
import java.util.function.Function;

/**
 * Asks hosts that tenants and operators named: for small public documents such as key sets, and for
 * credentials. What such a host can do to the broker is bounded in place, time and size.
 */
public final class GuardedHttp {
    /** The time limit of a document, from the DNS lookup to the last byte. */
    public static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Limits LIMITS = new Limits(1 << 20, TIMEOUT);

    /** The owner of the broker's own calls. */
    private static final String BROKER = "";

    private static final Sender ITSELF = new Sender(BROKER, () -> {});

    private final Destinations destinations;
    private final Limits limits;
    private final TlsSocketStrategy publicTrust = Trust.publicAuthorities();
    private final DocumentReader documents = new DocumentReader();

    /**
     * The bounds of a response.
     *
     * @param bytes of its body
     * @param time from the look-up of the name to the last byte of a document
     */
    record Limits(int bytes, Duration time) {}

    /**
     * A document to get.
     *
     * @param owner the tenant whose shares of look-ups and long documents are used
     * @param address an https URL; http only if the host is a loopback one
     * @param caCertificate PEM of the only authority that the host's certificate may come from;
     *     without it the Java platform's authorities count
     * @param timeout from the look-up of the name until the document is parsed, at most {@link
     *     #TIMEOUT}
     */
    public record Document(
            String owner, String address, Optional<String> caCertificate, Duration timeout) {}

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
     * Parses the body of a 200 answer: at most 1 MiB, complete in time, neither redirected nor
     * compressed.
     *
     * @param parser called at most once, by another thread
     */
    public <T> T get(Document wanted, Function<byte[], T> parser) throws OutboundFailure {
        return get(
                WebAddress.ofDocument(wanted.address()),
                wanted.caCertificate().isPresent()
                        ? Trust.only(wanted.caCertificate().get())
                        : publicTrust,
                wanted,
                parser);
    }

    /**
     * The body of such an answer of a service that the operator chose: the platform's authorities
     * count.
     *
     * @param address an https URL; http only if the host is a loopback one or listed in {@code
     *     OUTBOUND_ALLOWED_HOSTS}
     */
    public byte[] getOfService(String address) throws OutboundFailure {
        return get(
                WebAddress.ofService(address, destinations),
                publicTrust,
                new Document(BROKER, address, Optional.empty(), limits.time()),
                body -> body);
    }

    private <T> T get(
            WebAddress target, TlsSocketStrategy trust, Document wanted, Function<byte[], T> parser)
            throws OutboundFailure {
        HttpGet request = new HttpGet(target.uri());
        Duration timeout =
                wanted.timeout().compareTo(limits.time()) < 0 ? wanted.timeout() : limits.time();
        Reading<T> reading = answer -> document(target.host(), wanted.owner(), answer, parser);
        return ask(
                request,
                timeout,
                () -> once(new Sender(wanted.owner(), () -> {}), trust, timeout, request, reading));
    }

    /**
     * Sends a request once and returns the response, with any status. The response's size is
     * limited; redirects and compression are rejected.
     *
     * @param timeout from the look-up of the name to the last byte
     */
    public Reply post(OutboundRequest post, Duration timeout) throws OutboundFailure {
        HttpUriRequestBase request = request(post);
        Reading<Reply> reading = reading(request, post);
        TlsSocketStrategy trust =
                post.caCertificate().isPresent() || post.certificate().isPresent()
                        ? Trust.of(post.caCertificate(), post.certificate())
                        : publicTrust;
        return ask(request, timeout, () -> once(ITSELF, trust, timeout, request, reading));
    }

    /** Posts to a service that is sent no secret, with the response as text. */
    public TextReply postText(OutboundRequest post, Duration timeout) throws OutboundFailure {
        HttpUriRequestBase request = request(post);
        Reading<TextReply> reading =
                answer -> TextReply.of(host(request), answer, post.longestAnswer());
        return ask(request, timeout, () -> once(ITSELF, publicTrust, timeout, request, reading));
    }

    /** Posts over a connection that a tenant keeps. */
    Reply post(TenantHttpClients clients, Sender sender, OutboundRequest post, Duration timeout)
            throws OutboundFailure {
        HttpUriRequestBase request = request(post);
        Reading<Reply> reading = reading(request, post);
        if (post.caCertificate().isPresent() || post.certificate().isPresent()) {
            // not kept: the tenant's connections have the same TLS for all hosts
            TlsSocketStrategy trust = Trust.of(post.caCertificate(), post.certificate());
            return ask(request, timeout, () -> once(sender, trust, timeout, request, reading));
        }
        return ask(
                request,
                timeout,
                () ->
                        clients.execute(
                                sender, request, answer -> readOrCut(request, answer, reading)));
    }

    private HttpUriRequestBase request(OutboundRequest post) throws OutboundFailure {
        var request =
                new HttpUriRequestBase(
                        post.method().name(),
                        WebAddress.ofService(post.address(), destinations).uri());
        if (post.method() != Method.DELETE) {
            byte[] body = post.body().reveal().getBytes(StandardCharsets.UTF_8);
            request.setEntity(new ByteArrayEntity(body, ContentType.create(post.mediaType())));
        }
        request.setHeader(HttpHeaders.ACCEPT, "application/json, */*;q=0.1");
        request.setHeader(HttpHeaders.ACCEPT_ENCODING, "identity");
        post.headers().forEach((name, value) -> request.setHeader(name, value.text()));
        return request;
    }

    private static Reading<Reply> reading(HttpUriRequestBase request, OutboundRequest post) {
        var sent = new SentSecrets(post.secrets());
        return answer -> reply(host(request), answer, sent, post.longestAnswer());
    }

    private static <T> T ask(HttpUriRequestBase request, Duration timeout, Callable<T> exchange)
            throws OutboundFailure {
        var call = new FutureTask<>(exchange);
        Thread.ofVirtual().name("outbound").start(call);
        try {
            return call.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NotSent kept) {
                throw kept;
            }
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
            Sender sender,
            TlsSocketStrategy trust,
            Duration timeout,
            HttpUriRequestBase request,
            Reading<T> reading)
            throws IOException {
        try (var client =
                OneConnection.open(
                        destinations.resolver(sender.tenant()),
                        trust,
                        timeout,
                        sender.lastCheck())) {
            return client.execute(request, answer -> readOrCut(request, answer, reading));
        }
    }

    private static String host(HttpUriRequestBase request) {
        return request.getAuthority().getHostName();
    }

    /** Cuts the connection if the body isn't wanted, because the client would read to its end. */
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

    private <T> T document(
            String host, String owner, ClassicHttpResponse answer, Function<byte[], T> parser)
            throws IOException {
        if (answer.getCode() != HttpStatus.SC_OK) {
            throw OutboundFailure.ofStatus(host, answer.getCode());
        }
        return documents.read(host, owner, answer, limits.bytes(), parser);
    }

    private static Reply reply(
            String host, ClassicHttpResponse answer, SentSecrets sent, int longest)
            throws IOException {
        byte[] body = DocumentReader.body(host, answer, longest);
        return new Reply(
                answer.getCode(),
                ServiceAnswer.of(body, sent),
                header(answer, HttpHeaders.RETRY_AFTER),
                header(answer, "X-RateLimit-Remaining").filter("0"::equals).isPresent());
    }

    private static Optional<String> header(ClassicHttpResponse answer, String name) {
        return Optional.ofNullable(answer.getFirstHeader(name)).map(Header::getValue);
    }

    private static void requirePlain(String host, ClassicHttpResponse answer)
            throws OutboundFailure {
        int status = answer.getCode();
        if (status >= HttpStatus.SC_REDIRECTION && status < HttpStatus.SC_CLIENT_ERROR) {
            throw new OutboundFailure(
                    Kind.REDIRECTED,
                    host + " answered with a redirect, which the broker doesn't follow");
        }
        if (answer.containsHeader(HttpHeaders.CONTENT_ENCODING)) {
            throw new OutboundFailure(
                    Kind.ENCODED,
                    host + " answered with a Content-Encoding, which the broker doesn't accept");
        }
    }
}
