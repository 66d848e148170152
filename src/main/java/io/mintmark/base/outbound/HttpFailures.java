package io.mintmark.base.outbound;

import io.mintmark.base.outbound.BoundedLookup.TooManyLookups;
import io.mintmark.base.outbound.OutboundFailure.Kind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;

import javax.net.ssl.SSLException;

/** Classifies what the HTTP client throws. */
final class HttpFailures {
    private HttpFailures() {}

    static OutboundFailure of(String host, @Nullable Throwable cause) {
        return switch (cause) {
            case OutboundFailure failure -> failure;
            case RefusedDestination refused -> refused(refused);
            case SSLException broken when isOfConnection(broken) -> of(host, broken.getCause());
            case SSLException distrust -> notTrusted(host, distrust);
            case InterruptedIOException late -> timedOut(host, late);
            case ConnectException deaf -> unreachable(host, deaf);
            case NoRouteToHostException lost -> unreachable(host, lost);
            case TooManyLookups busy -> busy(busy);
            case UnknownHostException unknown -> unreachable(host, unknown);
            case Throwable other -> cutOff(host, other);
            case null -> new OutboundFailure(Kind.UNREACHABLE, host + " can't be reached");
        };
    }

    /**
     * Whether an exception of TLS only passes on the socket's exception, which says nothing about
     * trust.
     */
    private static boolean isOfConnection(SSLException failure) {
        return failure.getCause() instanceof IOException cause && !(cause instanceof SSLException);
    }

    static OutboundFailure timedOut(String host, Throwable cause) {
        return new OutboundFailure(Kind.TIMED_OUT, host + " didn't answer in time", cause);
    }

    private static OutboundFailure busy(TooManyLookups cause) {
        return new OutboundFailure(Kind.BUSY, String.valueOf(cause.getMessage()), cause);
    }

    private static OutboundFailure refused(RefusedDestination cause) {
        return new OutboundFailure(
                Kind.DESTINATION_REFUSED, String.valueOf(cause.getMessage()), cause);
    }

    private static OutboundFailure notTrusted(String host, SSLException cause) {
        return new OutboundFailure(
                Kind.NOT_TRUSTED,
                "%s failed TLS authentication (%s)".formatted(host, why(innermost(cause))),
                cause);
    }

    private static OutboundFailure unreachable(String host, Throwable cause) {
        return new OutboundFailure(
                Kind.UNREACHABLE, "%s can't be reached (%s)".formatted(host, why(cause)), cause);
    }

    private static OutboundFailure cutOff(String host, Throwable cause) {
        return new OutboundFailure(
                Kind.CUT_OFF,
                "the connection to %s was lost (%s)".formatted(host, why(cause)),
                cause);
    }

    /** The first cause, such as that the certificate has expired. */
    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String why(Throwable cause) {
        return cause.getClass().getSimpleName();
    }
}
