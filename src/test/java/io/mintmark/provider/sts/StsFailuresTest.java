package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.ReservedPorts;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.sts.StsAnswer.AsAsked;
import io.mintmark.provider.sts.StsAnswer.Hanging;
import io.mintmark.provider.sts.StsAnswer.QuotingTheToken;
import io.mintmark.provider.sts.StsAnswer.Refusing;
import io.mintmark.provider.sts.StsAnswer.Saying;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;

class StsFailuresTest {
    private static final String UNFETCHED_KEY =
            "Couldn't retrieve verification key from your identity provider, please reference"
                    + " AssumeRoleWithWebIdentity documentation for requirements";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn sts = broker.aws();

    @ParameterizedTest
    @CsvSource(
            textBlock =
                    """
                    400, Throttling,                  PROVIDER_THROTTLED
                    400, ThrottlingException,         PROVIDER_THROTTLED
                    400, RequestLimitExceeded,        PROVIDER_THROTTLED
                    503, SlowDown,                    PROVIDER_THROTTLED
                    429, Anything,                    PROVIDER_THROTTLED
                    403, AccessDenied,                PROVIDER_REJECTED
                    400, InvalidIdentityToken,        BROKER_IDENTITY_REJECTED
                    400, ExpiredTokenException,       BROKER_IDENTITY_REJECTED
                    400, PackedPolicyTooLargeException, PROVIDER_MISCONFIGURED
                    400, MalformedPolicyDocumentException, PROVIDER_MISCONFIGURED
                    400, InvalidIdentityTokenException, BROKER_IDENTITY_REJECTED
                    400, IDPRejectedClaimException,   BROKER_IDENTITY_REJECTED
                    403, UnrecognizedClient,          BROKER_IDENTITY_REJECTED
                    403, RegionDisabled,              PROVIDER_MISCONFIGURED
                    400, ExpiredToken,                BROKER_IDENTITY_REJECTED
                    403, IDPRejectedClaim,            BROKER_IDENTITY_REJECTED
                    400, IDPCommunicationError,       BROKER_IDENTITY_REJECTED
                    403, InvalidClientTokenId,        BROKER_IDENTITY_REJECTED
                    403, SignatureDoesNotMatch,       BROKER_IDENTITY_REJECTED
                    400, ValidationError,             PROVIDER_MISCONFIGURED
                    400, MalformedPolicyDocument,     PROVIDER_MISCONFIGURED
                    400, PackedPolicyTooLarge,        PROVIDER_MISCONFIGURED
                    403, RegionDisabledException,     PROVIDER_MISCONFIGURED
                    400, InvalidParameterValue,       PROVIDER_MISCONFIGURED
                    500, InternalFailure,             PROVIDER_ERROR
                    503, ServiceUnavailable,          PROVIDER_ERROR
                    400, SomethingNew,                PROVIDER_ERROR
                    """)
    void each_error_code_has_its_reason(int status, String code, Reason reason) {
        sts.always(new Refusing(status, code, "because"));

        Failed failed = broker.assertFailed(reason, order());
        assertEquals(
                "%s: because (HTTP %d, request c6104cbe-af31-11e0-8154-cbc7ccf896c7) (%s)"
                        .formatted(code, status, sts.endpoint()),
                failed.detail());
    }

    @Test
    void a_role_that_trusts_nobody_rejects() {
        broker.assertFailed(
                Reason.PROVIDER_REJECTED,
                order("{'role_arn':'arn:aws:iam::123456789012:role/closed'}"));
    }

    @Test
    void a_connection_that_breaks_is_unreachable_and_not_tried_again() {
        sts.always(new StsAnswer.Dropping());

        assertEquals(Reason.PROVIDER_UNREACHABLE, broker.failed(order()).reason());
        assertEquals(1, sts.calls().size());
    }

    @Test
    void a_provider_that_hangs_costs_the_deadline() {
        sts.always(new Hanging());

        broker.assertFailed(Reason.PROVIDER_TIMEOUT, order().within(Duration.ofMillis(300)));
    }

    @Test
    void the_deadline_is_kept_without_anybody_watching() {
        sts.always(new Hanging());

        assertEquals(
                new Failed(
                        Reason.PROVIDER_TIMEOUT,
                        "no response before the deadline (%s)".formatted(sts.endpoint())),
                broker.awsSts(order().within(Duration.ofMillis(300))));
    }

    @Test
    void a_provider_that_hangs_leaves_the_others_alone() {
        sts.always(new Hanging());
        broker.failed(order().within(Duration.ofMillis(300)));

        try (StsStandIn other = broker.aws()) {
            broker.minted(
                    order(other.endpoint(), "{'role_arn':'arn:aws:iam::123456789012:role/a'}"));
        }
    }

    @Test
    void nobody_listening_is_unreachable() {
        int port = ReservedPorts.next();

        broker.assertFailed(
                Reason.PROVIDER_UNREACHABLE,
                "127.0.0.1:" + port,
                order("http://127.0.0.1:" + port, role()));
    }

    @Test
    void a_name_that_nobody_knows_is_unreachable() {
        broker.assertFailed(
                Reason.PROVIDER_UNREACHABLE, "sts.invalid", order("https://sts.invalid", role()));
    }

    @ParameterizedTest
    @CsvSource({"https://169.254.169.254", "https://10.0.0.1/x", "https://[::1]:8443"})
    void an_address_that_is_not_allowed_is_a_matter_of_configuration(String endpoint) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED, "OUTBOUND_ALLOWED_HOSTS", order(endpoint, role()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    200 | it works
                    200 | {"Credentials": {}}
                    200 | <html><body>Welcome
                    200 | <AssumeRoleWithWebIdentityResponse/>
                    200 | ''
                    307 | moved
                    404 | <html/>
                    502 | <html><body>Bad Gateway</body></html>
                    """)
    void an_answer_that_is_none_is_an_error(int status, String body) {
        sts.always(new Saying(status, body));

        broker.assertFailed(Reason.PROVIDER_ERROR, order());
        assertEquals(1, sts.calls().size());
    }

    @Test
    void a_credential_that_lacks_a_part_is_an_error() {
        sts.always(
                new Saying(
                        200,
                        """
                        <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>
                        <Credentials><AccessKeyId>ASIAHALF</AccessKeyId></Credentials>
                        </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
                        """));

        Failed failed = broker.assertFailed(Reason.PROVIDER_ERROR, order());
        assertTrue(failed.detail().startsWith("the response lacks a part"), failed.detail());
    }

    @ParameterizedTest
    @CsvSource({"200", "400"})
    void an_endless_answer_is_cut_off(int status) {
        sts.always(new Saying(status, "<a>" + "<b/>".repeat(1_000_000)));

        assertEquals(
                new Failed(
                        Reason.PROVIDER_ERROR,
                        "the response can't be parsed (%s)".formatted(sts.endpoint())),
                broker.failed(order()));
    }

    @Test
    void an_external_entity_is_not_fetched() {
        sts.always(
                new Saying(
                        400,
                        """
                        <!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>
                        <ErrorResponse><Error><Code>X</Code><Message>&e;</Message></Error></ErrorResponse>
                        """));

        Failed failed = broker.assertFailed(Reason.PROVIDER_ERROR, order());
        assertFalse(failed.detail().contains("root:"), failed.detail());
    }

    @Test
    void a_token_that_the_provider_quotes_is_not_in_the_detail() {
        sts.always(new QuotingTheToken());

        broker.assertFailed(
                Reason.BROKER_IDENTITY_REJECTED, "Can't verify [secret] at all", order());
    }

    @Test
    void a_failure_does_not_spoil_the_next_mint() {
        sts.next(new Saying(200, "<"), new AsAsked());

        broker.failed(order());
        broker.minted(order());
    }

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
    void throttling_does_not_outlast_the_deadline() {
        sts.next(new Refusing(400, "Throttling", "Rate exceeded"), new Hanging());

        broker.assertFailed(Reason.PROVIDER_TIMEOUT, order().within(Duration.ofSeconds(1)));
    }

    private Orders order() {
        return order(role());
    }

    private Orders order(String keySettings) {
        return order(sts.endpoint(), keySettings);
    }

    private static Orders order(String endpoint, String keySettings) {
        return Orders.of(
                "aws-sts", "{'region':'eu-central-1','endpoint':'" + endpoint + "'}", keySettings);
    }

    private static String role() {
        return "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}";
    }
}
