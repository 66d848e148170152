package io.mintmark.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.mint.MintResult.Failed;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal.Reason;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class S3StsTest {
    private static final String READ = "'policy_claim':{'name':'policy','value':'readonly'}";

    private final MintingBroker broker = MintingBroker.usual();
    private final StsStandIn minio =
            StsStandIn.minio(MintingBroker.ISSUER, broker.identity()::keySet, "policy");

    @AfterEach
    void close() {
        minio.close();
        broker.close();
    }

    @Test
    void a_policy_claim_gets_credentials_without_a_role() throws ParseException {
        Minted minted = broker.minted(order(READ, ""));

        assertEquals(
                Map.of(
                        "AccessKeyId", new Secret("ASIASTANDIN000000001"),
                        "SecretAccessKey", new Secret("the/secret+key-of-1"),
                        "SessionToken", new Secret("the-session-token-of-1"),
                        "Endpoint", new Secret(minio.endpoint()),
                        "Expiration", new Secret(minted.expiresAt().toString())),
                minted.fields());
        assertEquals("readonly", AwsStsTest.token(minio).getClaim("policy"));
        assertEquals(List.of(minio.endpoint()), AwsStsTest.token(minio).getAudience());
    }

    @Test
    void a_policy_claim_may_name_several_policies() throws ParseException {
        broker.minted(order("'policy_claim':{'name':'policy','value':['a','b']}", ""));

        assertEquals(List.of("a", "b"), AwsStsTest.token(minio).getClaim("policy"));
    }

    @Test
    void a_role_and_a_policy_are_passed_on() {
        broker.minted(
                order("'region':'local'", "'role_arn':'arn:minio:iam:::role/idp','policy':'{}'"));

        StsCall call = minio.calls().getFirst();
        assertEquals(Optional.of("arn:minio:iam:::role/idp"), call.parameter("RoleArn"));
        assertEquals(Optional.of("{}"), call.parameter("Policy"));
        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.parameter("RoleSessionName"));
    }

    @Test
    void a_credential_may_live_for_a_week() {
        broker.minted(order(READ, "").lasting(Duration.ofDays(7)));

        assertEquals(Optional.of("604800"), minio.calls().getFirst().parameter("DurationSeconds"));
    }

    @Test
    void the_audience_can_be_chosen() throws ParseException {
        broker.failed(order("'audience':'minio'", ""));

        assertEquals(List.of("minio"), AwsStsTest.token(minio).getAudience());
    }

    @Test
    void an_error_of_minios_has_its_reason() {
        Failed failed = broker.failed(order("", ""));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(
                failed.detail().startsWith("InvalidParameterValue: Role-based policies"),
                failed.detail());
    }

    @Test
    void a_key_without_a_role_is_refused_where_roles_are_listed() {
        Failed failed = broker.failed(order(READ, "").allowing("arn:minio:iam:::role/*"));

        assertEquals(
                "the key names no target, and access provider 'cloud' allows only [arn:minio:iam:::role/*]",
                failed.detail());
        assertEquals(List.of(), minio.calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'policy_claim':'readonly'                          | 'policy_claim' must be an object
                    'policy_claim':{'name':'policy'}                   | 'policy_claim': setting 'value' is missing
                    'policy_claim':{'name':'policy','value':[]}        | 'policy_claim': setting 'value' must be a text
                    'policy_claim':{'name':'aud','value':'x'}          | the reserved claim 'aud'
                    'policy_claim':{'name':'azp','value':'x'}          | the reserved claim 'azp'
                    'policy_claim':{'name':'https://aws.amazon.com/tags','value':'x'} | the reserved claim
                    'audience':''                                      | 'audience' must be a text
                    'insecure':true                                    | 'insecure' is not a setting
                    """)
    void provider_settings_that_cannot_work_are_told_before_anything_is_sent(
            String settings, String told) {
        Failed failed = broker.failed(order(settings, ""));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains(told), failed.detail());
        assertEquals(List.of(), minio.calls());
    }

    @ParameterizedTest
    @CsvSource({
        "sts.amazonaws.com",
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
        "api://AzureADTokenExchange"
    })
    void an_audience_of_a_vendors_is_refused(String audience) {
        Failed failed =
                broker.failed(
                        Orders.of(
                                "s3-sts",
                                "{'endpoint':'https://minio.example','audience':'%s'}"
                                        .formatted(audience),
                                "{}"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("is worth something to"), failed.detail());
    }

    @ParameterizedTest
    @CsvSource({"899", "604801"})
    void a_duration_out_of_bounds_is_told_before_anything_is_sent(int seconds) {
        Failed failed = broker.failed(order(READ, "").lasting(Duration.ofSeconds(seconds)));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
    }

    private Orders order(String providerSettings, String keySettings) {
        return Orders.of(
                "s3-sts",
                "{'endpoint':'%s'%s}"
                        .formatted(
                                minio.endpoint(),
                                providerSettings.isEmpty() ? "" : "," + providerSettings),
                "{" + keySettings + "}");
    }
}
