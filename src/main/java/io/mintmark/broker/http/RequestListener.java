package io.mintmark.broker.http;

import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.Optional;

/** Listens to requests for metrics; must neither block nor throw. */
public interface RequestListener {

    /**
     * A request of the public port was answered.
     *
     * @param route one of the interface's, or {@code none}
     * @param status the HTTP status
     * @param taken from its headers to the end of its answer
     */
    void answered(String route, int status, Duration taken);

    /** A request came through a proxy that the settings don't list as trusted. */
    void forwardingIgnored();

    /**
     * A request failed: something was missing, or the broker has an error.
     *
     * @param part what was missing; empty for an error
     */
    void failed(Optional<Unavailable.Part> part);

    /** The use case rejected the request, or its form was invalid. */
    void refused(Refusal refusal);
}
