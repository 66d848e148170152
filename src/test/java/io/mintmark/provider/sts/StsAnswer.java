package io.mintmark.provider.sts;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** What an {@link StsStandIn} does with a call, by order of a test. */
public sealed interface StsAnswer {

    /** Checks the call and answers as AWS would. */
    record AsAsked() implements StsAnswer {}

    /** As asked, but the credential lives longer than that. */
    record Longer(Duration by) implements StsAnswer {}

    /** Says no, with an error document. */
    record Refusing(int status, String code, String message) implements StsAnswer {}

    /** Anything at all. */
    record Saying(int status, String body) implements StsAnswer {}

    /** Checks the call, and answers as soon as it is let. */
    record Held(CountDownLatch gate) implements StsAnswer {}

    /** Says nothing and keeps the connection. */
    record Hanging() implements StsAnswer {}

    /** Says nothing and closes the connection. */
    record Dropping() implements StsAnswer {}

    /** Quotes the token that it was shown in its error message, as some servers do. */
    record QuotingTheToken() implements StsAnswer {}
}
