package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;

/** A stand-in that accepts anything would prove nothing. */
class StsStandInTest {
    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn aws = broker.aws();

    @Test
    void it_refuses_a_token_without_a_signature() {
        Secret token = new Secret(new PlainJWT(new JWTClaimsSet.Builder().build()).serialize());

        assertEquals("InvalidIdentityToken", StsRefusal.of(aws, token).code());
    }

    @Test
    void it_refuses_a_text_that_is_no_token() {
        assertEquals("InvalidIdentityToken", StsRefusal.of(aws, new Secret("none")).code());
    }

    @Test
    void it_refuses_a_token_of_another_brokers_key() {
        try (MintingBroker stranger = MintingBroker.usual()) {
            stranger.assertFailed(Reason.BROKER_IDENTITY_REJECTED, order());
        }
    }

    @Test
    void it_refuses_an_expired_token() {
        InstantSource slow = InstantSource.offset(InstantSource.system(), Duration.ofMinutes(-6));
        expectRefused(slow, "ExpiredTokenException");
    }

    @Test
    void it_refuses_a_token_of_the_future() {
        InstantSource fast = InstantSource.offset(InstantSource.system(), Duration.ofMinutes(6));
        expectRefused(fast, "InvalidIdentityToken: The token is not valid yet");
    }

    @Test
    void it_refuses_a_token_for_another_audience() {
        try (StsStandIn other =
                StsStandIn.aws(MintingBroker.ISSUER, broker.identity()::keySet, "another")) {
            broker.assertFailed(Reason.BROKER_IDENTITY_REJECTED, order(other));
        }
    }

    @Test
    void it_refuses_a_session_name_that_aws_would_refuse() {
        assertEquals(
                "ValidationError", StsRefusal.of(aws, Map.of("RoleSessionName", "a b")).code());
    }

    @Test
    void it_refuses_a_duration_that_aws_would_refuse() {
        assertEquals("ValidationError", StsRefusal.of(aws, Map.of("DurationSeconds", "60")).code());
    }

    @Test
    void it_refuses_an_unsigned_call_where_a_signature_is_needed() {
        assertEquals(
                "MissingAuthenticationToken",
                StsRefusal.of(aws, Map.of("Action", "AssumeRole")).code());
    }

    private void expectRefused(InstantSource identityClock, String detail) {
        try (MintingBroker other =
                        new MintingBroker(identityClock, MintingBroker.AMBIENT, "127.0.0.1");
                StsStandIn sts = other.aws()) {
            Failed failed = other.assertFailed(Reason.BROKER_IDENTITY_REJECTED, order(sts));
            assertEquals(detail, failed.detail().substring(0, detail.length()));
        }
    }

    private Orders order() {
        return order(aws);
    }

    private static Orders order(StsStandIn sts) {
        return Orders.of(
                "aws-sts",
                "{'region':'eu-central-1','endpoint':'" + sts.endpoint() + "'}",
                "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}");
    }
}
