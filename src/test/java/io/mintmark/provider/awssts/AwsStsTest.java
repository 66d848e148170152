package io.mintmark.provider.awssts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;

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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class AwsStsTest {
    private static final String ROLE = "arn:aws:iam::123456789012:role/deploy";
    private static final String SOURCE_IDENTITY = "https://aws.amazon.com/source_identity";
    private static final String TAGS = "https://aws.amazon.com/tags";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn aws = broker.aws();

    @Test
    void a_role_is_assumed_with_the_brokers_token() {
        Minted minted = broker.minted(order("'role_arn':'" + ROLE + "'"));

        assertEquals("ASIASTANDIN000000001", minted.credentialId());
        assertEquals(
                Map.of(
                        "AccessKeyId", new Secret("ASIASTANDIN000000001"),
                        "SecretAccessKey", new Secret("the/secret+key-of-1"),
                        "SessionToken", new Secret("the-session-token-of-1"),
                        "Region", new Secret("eu-central-1"),
                        "Expiration", new Secret(minted.expiresAt().toString())),
                minted.fields());
        StsCall call = aws.calls().getFirst();
        assertEquals(Optional.of(ROLE), call.parameter("RoleArn"));
        assertEquals(Optional.of("3600"), call.parameter("DurationSeconds"));
        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.parameter("RoleSessionName"));
    }

    @Test
    void the_token_names_tenant_key_and_mint_for_the_trust_policy() throws ParseException {
        broker.minted(order("'role_arn':'" + ROLE + "'"));

        JWTClaimsSet claims = aws.claims();
        assertEquals("tenant:acme:key:deploy", claims.getSubject());
        assertEquals(List.of("sts.amazonaws.com"), claims.getAudience());
        assertEquals(Orders.MINT_ID.toString(), claims.getJWTID());
        assertEquals(Orders.MINT_ID.toString(), claims.getClaim(SOURCE_IDENTITY));
        assertEquals(
                Map.of(
                        "principal_tags",
                        Map.of(
                                "tenant", List.of("acme"),
                                "key", List.of("deploy"),
                                "idp", List.of("github"),
                                "subject", List.of("repo:acme/app:ref:refs/heads/main"))),
                claims.getClaim(TAGS));
    }

    @Test
    void a_subject_that_aws_would_refuse_as_a_tag_is_hashed() throws ParseException {
        broker.minted(order("'role_arn':'" + ROLE + "'").by("auth0|42 <a&b>"));

        assertEquals(
                "sha256:b54cd83aed5d1821a3ee9c1d3ba3ffdad054c37dd04049fbab7fb9d76ed0d1b9",
                subjectTag(aws.claims()));
    }

    @Test
    void a_subject_too_long_for_a_tag_is_hashed() throws ParseException {
        broker.minted(order("'role_arn':'" + ROLE + "'").by("x".repeat(257)));

        assertTrue(subjectTag(aws.claims()).startsWith("sha256:"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sha256:b54cd83aed5d1821a3ee9c1d3ba3ffdad054c37dd04049fbab7fb9d76ed0d1b9",
                "SHA256:b54cd83aed5d1821a3ee9c1d3ba3ffdad054c37dd04049fbab7fb9d76ed0d1b9",
                "sha256:"
            })
    void a_subject_cannot_pass_for_anothers_hash(String subject) throws ParseException {
        broker.minted(order("'role_arn':'" + ROLE + "'").by(subject));

        assertEquals(
                "sha256:" + HexFormat.of().formatHex(new Secret(subject).hash()),
                subjectTag(aws.claims()));
    }

    @Test
    void tags_can_be_left_out_while_the_source_identity_stays() throws ParseException {
        broker.minted(
                Orders.of(
                        "aws-sts",
                        "{'region':'eu-central-1','endpoint':'%s','session_tags':false}"
                                .formatted(aws.endpoint()),
                        "{'role_arn':'" + ROLE + "'}"));

        assertFalse(aws.claims().getClaims().containsKey(TAGS));
        assertEquals(Orders.MINT_ID.toString(), aws.claims().getClaim(SOURCE_IDENTITY));
    }

    @Test
    void session_name_policy_and_policy_arns_are_passed_on() {
        broker.minted(
                order(
                        "'role_arn':'%s','session_name':'{tenant}.{key}.{mint_id}','policy':{'Version':'2012-10-17'},'policy_arns':['arn:aws:iam::aws:policy/ReadOnlyAccess']"
                                .formatted(ROLE)));

        StsCall call = aws.calls().getFirst();
        assertEquals(
                Optional.of("acme.deploy." + Orders.MINT_ID), call.parameter("RoleSessionName"));
        assertEquals(Optional.of("{\"Version\":\"2012-10-17\"}"), call.parameter("Policy"));
        assertEquals(
                Optional.of("arn:aws:iam::aws:policy/ReadOnlyAccess"),
                call.parameter("PolicyArns.member.1.arn"));
    }

    @Test
    void a_longer_life_than_asked_is_told_as_it_is() {
        aws.always(new StsAnswer.Longer(Duration.ofHours(12)));

        Minted minted = broker.minted(order("'role_arn':'" + ROLE + "'"));

        assertEquals(new Secret(minted.expiresAt().toString()), minted.fields().get("Expiration"));
        assertTrue(minted.expiresAt().isAfter(Orders.now().plus(Duration.ofHours(12))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {}                                                      | 'role_arn' is missing
                    {'role_arn':7}                                          | 'role_arn' must be a non-empty string
                    {'role_arn':'deploy'}                                   | isn't the ARN of a role
                    {'role_arn':'R','rolearn':'x'}                          | 'rolearn' is not a setting
                    {'role_arn':'R','session_name':'ci'}                    | must contain {mint_id}
                    {'role_arn':'R','session_name':'a b {mint_id}'}         | 'session_name' gives
                    {'role_arn':'R','session_name':'123456789012345678901234567890{mint_id}'} | 66 characters
                    {'role_arn':'R','session_name':'{subject}{mint_id}'}    | 'session_name' gives
                    {'role_arn':'R','policy_arns':'x'}                      | 'policy_arns' must be a list
                    {'role_arn':'R','policy_arns':['x']}                    | isn't the ARN of a policy
                    []                                                      | key settings must be an object
                    """)
    void key_settings_that_cannot_work_are_told_before_anything_is_sent(
            String settings, String told) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                told,
                Orders.of("aws-sts", provider(), settings.replace("'R'", "'" + ROLE + "'")));
        assertEquals(List.of(), aws.calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {}                                                           | 'region' is missing
                    {'region':'x.evil.example/'}                                 | isn't an AWS region
                    {'region':'eu-central-1','auth':'none'}                      | 'auth' must be
                    {'region':'eu-central-1','session_tags':'yes'}               | 'session_tags' must be
                    {'region':'eu-central-1','endpoint':'sts.amazonaws.com'}     | 'endpoint' 'sts.amazonaws.com' must begin
                    {'region':'eu-central-1','endpoint':'http://sts.example'}    | is plain http
                    {'region':'eu-central-1','session_tag':false}                | 'session_tag' is not a setting
                    """)
    void provider_settings_that_cannot_work_are_told_before_anything_is_sent(
            String settings, String told) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                told,
                Orders.of("aws-sts", settings, "{'role_arn':'" + ROLE + "'}"));
    }

    @Test
    void a_policy_over_2048_characters_is_told_before_anything_is_sent() {
        Failed failed =
                broker.failed(
                        order("'role_arn':'%s','policy':'%s'".formatted(ROLE, "x".repeat(2049))));

        assertEquals(
                "key setting 'policy' has 2049 characters; the maximum is 2048", failed.detail());
    }

    @ParameterizedTest
    @CsvSource({"899", "43201"})
    void a_duration_that_aws_does_not_give_is_told_before_anything_is_sent(int seconds) {
        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED,
                        order("'role_arn':'" + ROLE + "'").lasting(Duration.ofSeconds(seconds)));
        assertEquals(
                "a duration of %d s is out of range; it must be from 900 to 43200 s"
                        .formatted(seconds),
                failed.detail());
    }

    private Orders order(String keySettings) {
        return Orders.of("aws-sts", provider(), "{" + keySettings + "}");
    }

    private String provider() {
        return "{'region':'eu-central-1','endpoint':'" + aws.endpoint() + "'}";
    }

    private static String subjectTag(JWTClaimsSet claims) {
        return Orders.json(claims.toString())
                .path(TAGS)
                .path("principal_tags")
                .path("subject")
                .path(0)
                .textValue();
    }
}
