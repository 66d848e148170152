package io.mintmark.broker.http;

import java.time.Instant;
import java.util.OptionalLong;

/** An error in the words of some protocol. */
interface ErrorAnswer {

    /** The HTTP status. */
    int status();

    /** After how many seconds it is worth to ask again; at least one. */
    OptionalLong retryAfterSeconds();

    /** The body of the response. */
    Content content(String requestId, Instant at);
}
