package io.mintmark.broker.http;

import java.time.Instant;
import java.util.OptionalLong;

/** An error in the words of some protocol. */
interface ErrorAnswer {

    /** The HTTP status. */
    int status();

    /** After how many seconds it is worth to ask again; at least one. */
    OptionalLong retryAfterSeconds();

    /** The body of the response, which links to the page if its format has a field for that. */
    Content content(String requestId, Instant at, ErrorPage page);
}
