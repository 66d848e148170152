package io.mintmark.provider.gcp;

/** What a {@link GoogleStandIn} does with a call, by order of a test. */
public sealed interface GoogleAnswer {

    /** Checks the call and answers as Google would. */
    record AsAsked() implements GoogleAnswer {}

    /** Anything at all. */
    record Saying(int status, String body) implements GoogleAnswer {}

    /** Sends the caller to another address. */
    record Redirecting(String to) implements GoogleAnswer {}

    /** Says nothing and keeps the connection. */
    record Hanging() implements GoogleAnswer {}

    /** Says nothing and closes the connection. */
    record Dropping() implements GoogleAnswer {}

    /** Quotes the token that it was shown in an error. */
    record QuotingTheToken() implements GoogleAnswer {}
}
