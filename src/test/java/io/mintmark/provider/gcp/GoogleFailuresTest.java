package io.mintmark.provider.gcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.gcp.GoogleAnswer.AsAsked;
import io.mintmark.provider.gcp.GoogleAnswer.Dropping;
import io.mintmark.provider.gcp.GoogleAnswer.Hanging;
import io.mintmark.provider.gcp.GoogleAnswer.QuotingTheToken;
import io.mintmark.provider.gcp.GoogleAnswer.Redirecting;
import io.mintmark.provider.gcp.GoogleAnswer.Saying;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;

class GoogleFailuresTest {
    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final GoogleStandIn google =
            broker.google().binding("tenant:acme:key:deploy", GoogleStandIn.ACCOUNT);

    @ParameterizedTest
    @CsvSource({
        "400, invalid_grant,       BROKER_IDENTITY_REJECTED",
        "401, invalid_client,      BROKER_IDENTITY_REJECTED",
        "400, unauthorized_client, PROVIDER_REJECTED",
        "403, access_denied,       PROVIDER_REJECTED",
        "400, invalid_target,      PROVIDER_MISCONFIGURED",
        "400, invalid_request,     PROVIDER_MISCONFIGURED",
        "400, invalid_scope,       PROVIDER_MISCONFIGURED",
        "400, something_new,       PROVIDER_ERROR",
        "403, something_new,       PROVIDER_REJECTED",
        "500, internal_failure,    PROVIDER_ERROR",
    })
    void each_error_of_the_token_service_has_its_reason(int status, String code, Reason reason) {
        google.next(
                new Saying(
                        status,
                        "{\"error\":\"%s\",\"error_description\":\"because\"}".formatted(code)));

        assertEquals(told(reason, code, status), broker.failed(order()));
        assertEquals(1, google.calls().size());
    }

    @ParameterizedTest
    @CsvSource({
        "401, UNAUTHENTICATED,     BROKER_IDENTITY_REJECTED",
        "403, PERMISSION_DENIED,   PROVIDER_REJECTED",
        "404, NOT_FOUND,           PROVIDER_MISCONFIGURED",
        "400, INVALID_ARGUMENT,    PROVIDER_MISCONFIGURED",
        "400, FAILED_PRECONDITION, PROVIDER_MISCONFIGURED",
        "429, RESOURCE_EXHAUSTED,  PROVIDER_THROTTLED",
        "504, DEADLINE_EXCEEDED,   PROVIDER_TIMEOUT",
        "500, INTERNAL,            PROVIDER_ERROR",
        "503, UNAVAILABLE,         PROVIDER_ERROR",
        "400, SOMETHING_NEW,       PROVIDER_ERROR",
    })
    void each_error_of_the_accounts_service_has_its_reason(int status, String code, Reason reason) {
        Saying refusal = new Saying(status, rpc(status, code, "because", ""));
        google.next(new AsAsked(), refusal, refusal, refusal);

        assertEquals(told(reason, code, status), broker.failed(order()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"SERVICE_DISABLED", "BILLING_DISABLED", "CONSUMER_INVALID"})
    void a_project_that_is_not_set_up_is_a_matter_of_configuration(String reason) {
        String body = rpc(403, "PERMISSION_DENIED", "because", reason);
        google.next(new Saying(403, body), new AsAsked(), new Saying(403, body));

        assertEquals(
                told(Reason.PROVIDER_MISCONFIGURED, "PERMISSION_DENIED", 403),
                broker.failed(order()));
        assertEquals(
                told(Reason.PROVIDER_MISCONFIGURED, "PERMISSION_DENIED", 403),
                broker.failed(order()));
    }

    @Test
    void a_permission_that_is_missing_is_a_rejection_with_googles_words() {
        String body =
                rpc(403, "PERMISSION_DENIED", "Permission denied on it", "IAM_PERMISSION_DENIED");
        google.next(new AsAsked(), new Saying(403, body));

        broker.assertFailed(Reason.PROVIDER_REJECTED, "Permission denied on it", order());
    }

    @Test
    void an_account_that_trusts_somebody_else_rejects() {
        broker.assertFailed(
                Reason.PROVIDER_REJECTED,
                "iam.serviceAccounts.getAccessToken",
                GoogleOrders.at(
                        google.endpoint(),
                        "'service_account':'other@acme-prod.iam.gserviceaccount.com'"));
    }

    @Test
    void a_life_over_an_hour_that_the_organisation_does_not_allow_is_told() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "allowServiceAccountCredentialLifetimeExtension",
                order().lasting(Duration.ofHours(2)));
    }

    @Test
    void so_it_is_if_google_calls_it_a_permission() {
        google.next(
                new AsAsked(),
                new Saying(
                        403,
                        rpc(
                                403,
                                "PERMISSION_DENIED",
                                "Use the Org Policy Constraint"
                                        + " constraints/iam.allowServiceAccountCredentialLifetimeExtension",
                                "")));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, broker.failed(order()).reason());
    }

    @Test
    void a_token_of_another_brokers_is_not_accepted() {
        try (MintingBroker stranger = MintingBroker.usual()) {
            Failed failed = stranger.assertFailed(Reason.BROKER_IDENTITY_REJECTED, order());
            assertTrue(failed.detail().startsWith("invalid_grant: "), failed.detail());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_token_that_google_quotes_is_not_in_the_detail(int before) {
        if (before > 0) {
            google.next(new AsAsked());
        }
        google.next(new QuotingTheToken());

        Failed failed =
                broker.assertFailed(Reason.BROKER_IDENTITY_REJECTED, "[secret] , sorry", order());
        assertFalse(failed.detail().contains("ya29"), failed.detail());
        assertFalse(failed.detail().contains("eyJ"), failed.detail());
    }

    @Test
    void no_form_of_a_token_that_was_shown_gets_into_the_detail() {
        google.next(
                new Saying(
                        200,
                        "{\"access_token\":\"an-opaque-one\",\"token_type\":\"Bearer\",\"expires_in\":60}"),
                new Saying(401, rpc(401, "UNAUTHENTICATED", "Bad an-opaque-one!", "")));

        Failed failed = broker.failed(order());

        assertTrue(failed.detail().contains("Bad [secret]!"), failed.detail());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "it works",
                "[]",
                "{}",
                "{\"access_token\":7,\"expires_in\":60}",
                "{\"access_token\":\"\",\"expires_in\":60}",
                "{\"access_token\":\"a b\",\"token_type\":\"Bearer\",\"expires_in\":60}",
                "{\"access_token\":\"a\",\"expires_in\":60}",
                "{\"access_token\":\"a\\r\\nX: y\",\"expires_in\":60}",
                "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"expires_in\":0}",
                "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"expires_in\":-1}",
                "{\"access_token\":\"a\",\"expires_in\":\"soon\"}",
                "{\"access_token\":\"a\",\"expires_in\":1e30}",
            })
    void an_answer_of_the_token_service_that_is_none_is_an_error(String body) {
        google.next(new Saying(200, body));

        assertEquals(Reason.PROVIDER_ERROR, broker.refused(order()).reason());
        assertEquals(1, google.calls().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"accessToken\":\"a\"}",
                "{\"accessToken\":\"a\",\"expireTime\":\"soon\"}",
                "{\"accessToken\":\"a\",\"expireTime\":\"2031-02-30T00:00:00Z\"}",
                "{\"accessToken\":\"a\",\"expireTime\":\"+99999-01-01T00:00:00Z\"}",
                "{\"accessToken\":\"a b\",\"expireTime\":\"2031-01-01T00:00:00Z\"}",
                "{\"expireTime\":\"2031-01-01T00:00:00Z\"}",
            })
    void an_answer_of_the_accounts_service_that_is_none_is_an_error(String body) {
        google.next(new AsAsked(), new Saying(200, body));

        assertEquals(Reason.PROVIDER_ERROR, broker.refused(order()).reason());
    }

    @Test
    void a_federated_token_that_does_not_say_when_it_expires_is_not_given_out() {
        google.next(new Saying(200, "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}"));

        Withheld failed = broker.withheld(GoogleOrders.at(google.endpoint(), ""));

        assertEquals(Reason.PROVIDER_ERROR, failed.reason());
        assertTrue(failed.detail().startsWith("the response has no expires_in"), failed.detail());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_redirect_is_not_followed(int before) {
        if (before > 0) {
            google.next(new AsAsked());
        }
        google.next(new Redirecting(google.endpoint() + "/v1/token"));

        assertEquals(Reason.PROVIDER_ERROR, broker.failed(order()).reason());
        assertEquals(before + 1, google.calls().size());
    }

    @Test
    void a_connection_that_breaks_is_not_tried_again() {
        google.next(new AsAsked(), new Dropping());

        assertEquals(Reason.PROVIDER_UNREACHABLE, broker.failed(order()).reason());
        assertEquals(2, google.calls().size());
    }

    @Test
    void what_is_overloaded_is_tried_again() {
        google.next(new Saying(503, ""), new AsAsked(), new Saying(429, ""));

        broker.minted(order());

        assertEquals(4, google.calls().size());
    }

    @Test
    void both_steps_share_one_deadline() {
        google.next(new AsAsked(), new Hanging());

        broker.assertFailed(Reason.PROVIDER_TIMEOUT, order().within(Duration.ofSeconds(1)));
    }

    private Orders order() {
        return GoogleOrders.at(google.endpoint(), GoogleOrders.DEPLOY);
    }

    private Failed told(Reason reason, String code, int status) {
        return new Failed(
                reason, "%s: because (HTTP %d) (%s)".formatted(code, status, google.endpoint()));
    }

    private static String rpc(int status, String code, String message, String reason) {
        return """
        {"error": {"code": %d, "message": "%s", "status": "%s", "details": [
          {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "%s",
           "domain": "googleapis.com"}]}}
        """
                .formatted(status, message, code, reason);
    }
}
