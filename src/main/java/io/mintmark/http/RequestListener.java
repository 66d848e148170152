package io.mintmark.http;

import io.mintmark.verdict.Refusal;

/** Told of requests, for their numbers; it must neither wait nor throw. */
public interface RequestListener {

    /**
     * A request of the public port was answered.
     *
     * @param route one of the interface's, or {@code none}
     * @param status the HTTP status
     */
    void answered(String route, int status);

    /** The use case, or the request's form, refused it. */
    void refused(Refusal refusal);
}
