package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.ActorFault;
import io.mintmark.base.verdict.TokenRefusal.ActorNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.TokenNotYetValid;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Messages about refused tokens tell causes apart that need different remedies. */
final class TokenRefusalsTest {

    @ParameterizedTest
    @CsvSource({"iat, 75000, 75", "nbf, 1, 1", "iat, 75001, 76"})
    void a_clock_that_is_ahead_is_named_with_the_claim_and_the_difference(
            String claim, long ahead, long seconds) {
        Instant now = Instant.parse("2026-07-01T12:00:00Z");
        Instant from = now.plusMillis(ahead);
        TokenRefusal refusal =
                claim.equals("iat")
                        ? new TokenNotYetValid.ByIssuedAt(from, now)
                        : new TokenNotYetValid.ByNotBefore(from, now);
        assertEquals(
                "The token is not valid yet: its %s is %s, %d seconds ahead of the broker's clock; compare the issuer's clock with the broker's."
                        .formatted(claim, from, seconds),
                TokenRefusals.of(refusal).message());
    }

    @Test
    void each_reason_against_an_actor_has_a_message_of_its_own() {
        assertEquals(
                ActorFault.values().length,
                Arrays.stream(ActorFault.values())
                        .map(fault -> TokenRefusals.of(new ActorNotAccepted(fault)).message())
                        .collect(Collectors.toSet())
                        .size());
    }
}
