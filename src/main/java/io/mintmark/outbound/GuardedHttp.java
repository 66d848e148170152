package io.mintmark.outbound;

import io.mintmark.outbound.OutboundFailure.Kind;

import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.HttpStatus;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Fetches small public documents from hosts that tenants named: key sets and discovery documents.
 * What such a host can do to the broker is bounded in place, time and size.
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
     * @param time from the look-up of the name to the last byte
     */
    record Limits(int bytes, Duration time) {}

    public GuardedHttp(Destinations destinations) {
        this(destinations, LIMITS);
    }

    GuardedHttp(Destinations destinations, Limits limits) {
        this.destinations = destinations;
        this.limits = limits;
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
        WebAddress target = WebAddress.parse(address);
        TlsSocketStrategy trust =
                caCertificate.isPresent() ? Trust.only(caCertificate.get()) : publicTrust;
        FutureTask<byte[]> call = new FutureTask<>(() -> fetch(target, trust));
        Thread.ofVirtual().name("outbound").start(call);
        try {
            return call.get(limits.time().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw Failures.of(target.host(), e.getCause());
        } catch (TimeoutException e) {
            throw Failures.timedOut(target.host(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failures.timedOut(target.host(), e);
        } finally {
            // an interrupt closes the socket that a virtual thread waits on
            call.cancel(true);
        }
    }

    private byte[] fetch(WebAddress target, TlsSocketStrategy trust) throws IOException {
        HttpGet request = new HttpGet(target.uri());
        try (var client = OneConnection.open(destinations.resolver(), trust, limits.time())) {
            return client.execute(request, answer -> bodyOrNone(request, target.host(), answer));
        }
    }

    /** Where the body isn't wanted the connection is cut; the client would read to its end. */
    private byte[] bodyOrNone(HttpGet request, String host, ClassicHttpResponse answer)
            throws IOException {
        try {
            return body(host, answer);
        } catch (OutboundFailure e) {
            request.abort();
            throw e;
        }
    }

    private byte[] body(String host, ClassicHttpResponse answer) throws IOException {
        requirePlainSuccess(host, answer);
        if (answer.getEntity() == null) {
            return new byte[0];
        }
        byte[] body = answer.getEntity().getContent().readNBytes(limits.bytes() + 1);
        if (body.length > limits.bytes()) {
            throw new OutboundFailure(
                    Kind.TOO_LARGE, host + " answered with over " + limits.bytes() + " bytes");
        }
        return body;
    }

    private static void requirePlainSuccess(String host, ClassicHttpResponse answer)
            throws OutboundFailure {
        int status = answer.getCode();
        if (status >= HttpStatus.SC_REDIRECTION && status < HttpStatus.SC_CLIENT_ERROR) {
            throw new OutboundFailure(
                    Kind.REDIRECTED, host + " answered with a redirect, which isn't followed");
        }
        if (status != HttpStatus.SC_OK) {
            throw new OutboundFailure(Kind.STATUS, host + " answered with status " + status);
        }
        if (answer.containsHeader(HttpHeaders.CONTENT_ENCODING)) {
            throw new OutboundFailure(Kind.ENCODED, host + " answered with an encoded body");
        }
    }
}
