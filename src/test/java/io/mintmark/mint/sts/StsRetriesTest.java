package io.mintmark.mint.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.mint.MintResult.Failed;
import io.mintmark.mint.MintingBroker;
import io.mintmark.mint.Orders;
import io.mintmark.mint.sts.StsAnswer.Dropping;
import io.mintmark.mint.sts.StsAnswer.Hanging;
import io.mintmark.mint.sts.StsAnswer.Refusing;
import io.mintmark.verdict.MintRefusal.Reason;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;

class StsRetriesTest {
    private static final String UNFETCHED_KEY =
            "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn sts = broker.aws();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    400 | Throttling            | Rate exceeded
                    400 | IDPCommunicationError | no answer
                    503 | ServiceUnavailable    | later
                    400 | InvalidIdentityToken  | Couldn't retrieve verification key from your identity provider
                    """)
    void what_another_try_may_help_is_tried_again(int status, String code, String message) {
        sts.next(new Refusing(status, code, message), new Refusing(status, code, message));

        broker.minted(order());

        assertEquals(3, sts.calls().size());
    }

    @Test
    void it_is_tried_three_times_at_most() {
        sts.always(new Refusing(400, "InvalidIdentityToken", UNFETCHED_KEY));

        assertEquals(Reason.BROKER_IDENTITY_REJECTED, broker.failed(order()).reason());
        assertEquals(3, sts.calls().size());
    }

    @ParameterizedTest
    @CsvSource({"400, InvalidIdentityToken", "403, AccessDenied", "500, InternalFailure"})
    void what_another_try_cannot_help_is_not_tried_again(int status, String code) {
        sts.next(new Refusing(status, code, "Incorrect token audience"));

        broker.failed(order());

        assertEquals(1, sts.calls().size());
    }

    @Test
    void a_connection_that_breaks_is_not_tried_again() {
        sts.next(new Dropping());

        broker.failed(order());

        assertEquals(1, sts.calls().size());
    }

    @Test
    void throttling_does_not_outlast_the_deadline() {
        sts.next(new Refusing(400, "Throttling", "Rate exceeded"), new Hanging());

        Failed failed = broker.failed(order().within(Duration.ofSeconds(1)));

        assertEquals(Reason.PROVIDER_TIMEOUT, failed.reason());
    }

    private Orders order() {
        return Orders.of(
                "aws-sts",
                "{'region':'eu-central-1','endpoint':'" + sts.endpoint() + "'}",
                "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}");
    }
}
