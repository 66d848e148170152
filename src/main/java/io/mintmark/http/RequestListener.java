package io.mintmark.http;

import io.mintmark.verdict.Refusal;

import java.time.Duration;

/** Told of requests, for their numbers; it must neither wait nor throw. */
public interface RequestListener {

    /**
     * A request of the public port was answered.
     *
     * @param route one of the interface's, or {@code none}
     * @param status the HTTP status
     * @param taken from its headers to the end of its answer
     */
    void answered(String route, int status, Duration taken);

    /** The use case, or the request's form, refused it. */
    void refused(Refusal refusal);
}
