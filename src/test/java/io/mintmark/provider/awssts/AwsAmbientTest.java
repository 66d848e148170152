package io.mintmark.provider.awssts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsCall;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import software.amazon.awssdk.core.exception.SdkClientException;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

class AwsAmbientTest {
    private static final String KEY = "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn aws = broker.aws();

    @Test
    void a_role_is_assumed_with_the_brokers_own_account_and_the_tenants_external_id() {
        broker.minted(order().sharing().allowing("arn:aws:iam::123456789012:role/*"));

        StsCall call = aws.calls().getFirst();
        assertEquals(Optional.of("AssumeRole"), call.parameter("Action"));
        assertEquals(Optional.of(Orders.EXTERNAL_ID.toString()), call.parameter("ExternalId"));
        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.parameter("SourceIdentity"));
        assertEquals(
                List.of("tenant=acme", "key=deploy", "idp=github"),
                List.of(tag(call, 1), tag(call, 2), tag(call, 3)));
        assertTrue(call.authorization().orElseThrow().contains("AKIAAMBIENT"));
    }

    @Test
    void a_signed_call_goes_to_the_endpoints_own_path() {
        broker.minted(
                Orders.of(
                                "aws-sts",
                                "{'region':'eu-central-1','auth':'ambient','endpoint':'%s/a%%2Fb'}"
                                        .formatted(aws.endpoint()),
                                KEY)
                        .sharing()
                        .allowing("arn:aws:iam::123456789012:role/*"));

        assertEquals("/a%2Fb", aws.calls().getFirst().path());
    }

    @Test
    void tags_can_be_left_out() {
        broker.minted(
                order(",'session_tags':false")
                        .sharing()
                        .allowing("arn:aws:iam::123456789012:role/*"));

        assertEquals(Optional.empty(), aws.calls().getFirst().parameter("Tags.member.1.Key"));
    }

    @Test
    void the_access_provider_must_allow_a_shared_identity() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "doesn't have shared_identity",
                order().allowing("arn:aws:iam::123456789012:role/*"));
        assertEquals(List.of(), aws.calls());
    }

    @Test
    void a_shared_identity_does_not_serve_all_targets() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "'**' matches every target",
                order().sharing().allowing("**"));
        assertEquals(List.of(), aws.calls());
    }

    @Test
    void the_brokers_account_is_shown_to_aws_and_listed_hosts_only() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "neither a host of AWS STS nor listed",
                Orders.of(
                                "aws-sts",
                                "{'region':'eu-central-1','auth':'ambient','endpoint':'https://sts.amazonaws.com.evil.example'}",
                                KEY)
                        .sharing()
                        .allowing("arn:aws:iam::123456789012:role/*"));
    }

    @Test
    void a_broker_without_an_account_is_told_so() {
        try (var poor =
                new MintingBroker(
                        InstantSource.system(),
                        () -> {
                            throw SdkClientException.create("Unable to load credentials");
                        },
                        "127.0.0.1")) {
            poor.assertFailed(
                    Reason.PROVIDER_MISCONFIGURED,
                    "needs AWS credentials",
                    order().sharing().allowing("arn:aws:iam::123456789012:role/*"));
        }
    }

    @Test
    void the_deadline_is_kept_without_anybody_watching() {
        aws.always(new StsAnswer.Hanging());

        MintResult result =
                broker.awsSts(
                        order().sharing()
                                .allowing("arn:aws:iam::123456789012:role/*")
                                .within(Duration.ofMillis(300)));

        assertEquals(Reason.PROVIDER_TIMEOUT, assertInstanceOf(Failed.class, result).reason());
    }

    private Orders order() {
        return order("");
    }

    private Orders order(String more) {
        return Orders.of(
                "aws-sts",
                "{'region':'eu-central-1','auth':'ambient','endpoint':'%s'%s}"
                        .formatted(aws.endpoint(), more),
                KEY);
    }

    private static String tag(StsCall call, int number) {
        return "%s=%s"
                .formatted(
                        call.parameter("Tags.member.%d.Key".formatted(number)).orElseThrow(),
                        call.parameter("Tags.member.%d.Value".formatted(number)).orElseThrow());
    }
}
