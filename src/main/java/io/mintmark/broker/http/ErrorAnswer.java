package io.mintmark.broker.http;

import java.time.Instant;
import java.util.OptionalLong;

/** An error in the form of one protocol. */
interface ErrorAnswer {

    /** The HTTP status. */
    int status();

    /** The number of seconds after which a retry is worthwhile; at least 1. */
    OptionalLong retryAfterSeconds();

    /** The body of the response, which links to the page if its format has a field for that. */
    Content content(String requestId, Instant at, ErrorPage page);
}
