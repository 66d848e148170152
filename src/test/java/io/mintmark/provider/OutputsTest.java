package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Map;

class OutputsTest {
    private static final Minted MINTED =
            new Minted(
                    Map.of("AccessToken", new Secret("the-token")),
                    Instant.parse("2026-07-29T12:00:00Z"),
                    "credential-id");

    @Test
    void a_key_may_name_its_outputs_itself() {
        MintResult named = new Outputs(Map.of("A", "AccessToken", "B", "AccessToken")).name(MINTED);

        assertEquals(
                new Minted(
                        Map.of("A", new Secret("the-token"), "B", new Secret("the-token")),
                        MINTED.expiresAt(),
                        MINTED.credentialId()),
                named);
    }

    @Test
    void an_optional_output_is_there_if_its_field_is() {
        Outputs outputs =
                new Outputs(Map.of("A", "AccessToken"), Map.of("B", "AccessToken", "C", "Scope"));

        assertEquals(
                new Minted(
                        Map.of("A", new Secret("the-token"), "B", new Secret("the-token")),
                        MINTED.expiresAt(),
                        MINTED.credentialId()),
                outputs.name(MINTED));
    }

    @Test
    void an_output_of_a_field_that_is_not_there_is_told() {
        MintResult named = new Outputs(Map.of("REGION", "Region")).name(MINTED);

        assertEquals(
                new Failed(
                        Reason.PROVIDER_MISCONFIGURED,
                        "key output 'REGION' names the field 'Region', but the credential has only the fields [AccessToken]"),
                named);
    }
}
