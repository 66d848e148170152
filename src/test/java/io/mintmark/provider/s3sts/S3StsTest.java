package io.mintmark.provider.s3sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsCall;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class S3StsTest {
    private static final String DENY =
            "{'Effect':'Deny','NotAction':['s3:*'],'Resource':['arn:aws:s3:::*']}";
    private static final String READ = "'policy_claim':{'name':'policy','value':'readonly'}";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final StsStandIn minio =
            StsStandIn.minio(MintingBroker.ISSUER, broker.identity()::keySet, "policy");

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
        assertEquals("readonly", minio.claims().getClaim("policy"));
        assertEquals(List.of(minio.endpoint()), minio.claims().getAudience());
    }

    @Test
    void a_policy_claim_may_name_several_policies() throws ParseException {
        broker.minted(order("'policy_claim':{'name':'policy','value':['a','b']}", ""));

        assertEquals(List.of("a", "b"), minio.claims().getClaim("policy"));
    }

    @Test
    void a_role_and_a_policy_are_passed_on() {
        String own = "{'Effect':'Allow','Action':['s3:GetObject'],'Resource':['arn:aws:s3:::a/*']}";
        broker.minted(
                order(
                        "'region':'local'",
                        "'role_arn':'arn:minio:iam:::role/idp','policy':{'Version':'2012-10-17','Statement':[%s]}"
                                .formatted(own)));

        StsCall call = minio.calls().getFirst();
        assertEquals(Optional.of("arn:minio:iam:::role/idp"), call.parameter("RoleArn"));
        assertEquals(policy(own + "," + DENY), call.parameter("Policy"));
        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.parameter("RoleSessionName"));
    }

    @Test
    void a_credential_of_a_key_without_a_policy_can_do_nothing_but_s3() {
        broker.minted(order(READ, ""));

        assertEquals(
                policy(
                        "{'Effect':'Allow','Action':['s3:*'],'Resource':['arn:aws:s3:::*']},"
                                + DENY),
                minio.calls().getFirst().parameter("Policy"));
    }

    /** MinIO takes a NotAction and fails when it writes the policy down. */
    @Test
    void a_server_without_not_action_is_told_what_can_make_credentials() {
        minio.next(
                new StsAnswer.Refusing(
                        400,
                        "InvalidParameterValue",
                        "json: error calling MarshalJSON for type policy.ActionSet: empty actions"
                                + " not allowed"));
        broker.minted(order(READ, ""));
        broker.minted(order(READ, ""));

        String allowed = "{'Effect':'Allow','Action':['s3:*'],'Resource':['arn:aws:s3:::*']},";
        Optional<String> denied = policy(allowed + "{'Effect':'Deny','Action':['admin:*']}");
        assertEquals(
                List.of(policy(allowed + DENY), denied, denied),
                minio.calls().stream().map(call -> call.parameter("Policy")).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':'s3:*','Resource':'*'}}",
                "'{ \\'Version\\' : \\'2012-10-17\\', \\'Statement\\' :"
                        + " [{\\'Effect\\':\\'Allow\\',\\'Action\\':\\'s3:*\\',\\'Resource\\':\\'*\\'}]"
                        + " }'"
            })
    void a_policy_may_be_one_statement_or_a_text(String policy) {
        broker.minted(order(READ, "'policy':" + policy));

        assertEquals(
                policy("{'Effect':'Allow','Action':'s3:*','Resource':'*'}," + DENY),
                minio.calls().getFirst().parameter("Policy"));
    }

    /** Servers in Go read member names without regard to case, and the last one counts. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {'Statement':[],'statement':[{'Effect':'Allow'}]}       | has the unknown field 'statement'
                    '{\\'Statement\\':[],\\'Statement\\':[]}'                | isn't a JSON object
                    '[]'                                                    | isn't a JSON object
                    {'Statement':'x'}                                       | has a Statement that is neither
                    """)
    void a_policy_that_could_be_read_without_the_denial_is_refused(String policy, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(READ, "'policy':" + policy));
        assertEquals(List.of(), minio.calls());
    }

    @Test
    void a_policy_must_leave_room_for_the_denial() {
        String own = "{'Effect':'Allow','Action':['s3:*'],'Resource':['arn:aws:s3:::%s']}";
        int room = 2048 - policy(own.formatted("") + "," + DENY).orElseThrow().length();

        broker.minted(order(READ, statement(own.formatted("x".repeat(room)))));
        Failed failed = broker.failed(order(READ, statement(own.formatted("x".repeat(room + 1)))));

        assertEquals(2048, minio.calls().getFirst().parameter("Policy").orElseThrow().length());
        assertEquals(
                "key setting 'policy' has 2049 characters, including the statement that the broker"
                        + " adds so that a credential can't create others; the maximum is 2048",
                failed.detail());
    }

    /** As MinIO of 2026-02 says it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    No public key found for kid x                          | BROKER_IDENTITY_REJECTED
                    crypto/ecdsa: verification error                       | BROKER_IDENTITY_REJECTED
                    STS JWT Token has `aud` claim invalid, `aud` must match configured OpenID Client ID | BROKER_IDENTITY_REJECTED
                    STS JWT Token has `azp` claim invalid, `azp` must match configured OpenID Client ID | BROKER_IDENTITY_REJECTED
                    Error processing RoleArn parameter: role not found     | PROVIDER_MISCONFIGURED
                    None of the given policies (`x`) are defined, credentials will not be generated | PROVIDER_MISCONFIGURED
                    policy claim missing from the JWT token, credentials will not be generated | PROVIDER_MISCONFIGURED
                    Version cannot be empty expecting '2012-10-17'         | PROVIDER_MISCONFIGURED
                    """)
    void minios_one_code_is_told_apart_by_its_words(String message, Reason reason) {
        minio.always(new StsAnswer.Refusing(400, "InvalidParameterValue", message));

        assertEquals(reason, broker.failed(order(READ, "")).reason());
    }

    @Test
    void a_credential_may_live_for_a_week() {
        broker.minted(order(READ, "").lasting(Duration.ofDays(7)));

        assertEquals(Optional.of("604800"), minio.calls().getFirst().parameter("DurationSeconds"));
    }

    @Test
    void the_audience_can_be_chosen() throws ParseException {
        broker.failed(order("'audience':'minio'", ""));

        assertEquals(List.of("minio"), minio.claims().getAudience());
    }

    @Test
    void an_error_of_minios_has_its_reason() {
        Failed failed = broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, order("", ""));
        assertTrue(
                failed.detail().startsWith("InvalidParameterValue: Role-based policies"),
                failed.detail());
    }

    @Test
    void a_key_without_a_role_is_refused_where_roles_are_listed() {
        Failed failed = broker.failed(order(READ, "").allowing("arn:minio:iam:::role/*"));

        assertEquals(
                "the key names no target, and access provider 'cloud' allows only"
                        + " [arn:minio:iam:::role/*]",
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
                    'policy_claim':{'name':'policy','value':[]}        | 'policy_claim': setting 'value' must be a non-empty string
                    'policy_claim':{'name':'aud','value':'x'}          | the reserved claim 'aud'
                    'policy_claim':{'name':'azp','value':'x'}          | the reserved claim 'azp'
                    'policy_claim':{'name':'https://aws.amazon.com/tags','value':'x'} | the reserved claim
                    'audience':''                                      | 'audience' must be a non-empty string
                    'insecure':true                                    | 'insecure' is not a setting
                    """)
    void provider_settings_that_cannot_work_are_told_before_anything_is_sent(
            String settings, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(settings, ""));
        assertEquals(List.of(), minio.calls());
    }

    @ParameterizedTest
    @CsvSource({
        "sts.amazonaws.com",
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
        "api://AzureADTokenExchange"
    })
    void an_audience_of_a_vendors_is_refused(String audience) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "belongs to",
                Orders.of(
                        "s3-sts",
                        "{'endpoint':'https://minio.example','audience':'%s'}".formatted(audience),
                        "{}"));
    }

    @ParameterizedTest
    @CsvSource({"899", "604801"})
    void a_duration_out_of_bounds_is_told_before_anything_is_sent(int seconds) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                order(READ, "").lasting(Duration.ofSeconds(seconds)));
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

    private static String statement(String own) {
        return "'policy':{'Version':'2012-10-17','Statement':[%s]}".formatted(own);
    }

    private static Optional<String> policy(String statements) {
        return Optional.of(
                "{'Version':'2012-10-17','Statement':[%s]}"
                        .formatted(statements)
                        .replace('\'', '"'));
    }
}
