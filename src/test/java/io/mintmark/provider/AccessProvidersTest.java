package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.Unchecked;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.credential.FakeType;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotMinted;
import io.mintmark.provider.MintResult.Withheld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

class AccessProvidersTest {
    private static final Minted MINTED =
            new Minted(
                    Map.of("AccessToken", new Secret("the-token")), Orders.now(), "credential-id");

    /** A type whose key setting {@code aim} is the target. */
    private record FakeProvider(boolean sharedIdentity, Function<MintOrder, MintResult> minting)
            implements AccessProvider {
        @Override
        public CredentialType type() {
            return new FakeType(Map.of("TOKEN", "AccessToken"));
        }

        @Override
        public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
            return new Prepared(
                    Optional.ofNullable(keySettings.path("aim").textValue()).stream().toList(),
                    sharedIdentity,
                    minting);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "{},              **",
        "{'aim':'role/a'}, **",
        "{'aim':'role/a'}, role/*",
        "{'aim':'role/a'}, role/a",
        "{'aim':'role/a/b'}, role/**",
        "{'aim':'a name'}, **",
    })
    void a_key_may_aim_at_what_its_provider_allows(String settings, String allowed) {
        assertEquals(
                MINTED, mint(_ -> MINTED, Orders.of("fake", "{}", settings).allowing(allowed)));
    }

    @ParameterizedTest
    @CsvSource({
        "{},                 role/a",
        "{'aim':'role/ab'},  role/a",
        "{'aim':'role/a/b'}, role/*",
        "{'aim':'Role/a'},   role/*",
        "{'aim':'role/a x/b'}, role/**",
        "'{''aim'':''role/a,x/b''}', role/**",
    })
    void it_may_aim_at_nothing_else(String settings, String allowed) {
        Failed failed =
                failed(
                        _ -> {
                            throw new AssertionError("it was called");
                        },
                        Orders.of("fake", "{}", settings).allowing("other/**", allowed));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(
                failed.detail().endsWith("allows only [other/**, %s]".formatted(allowed)),
                failed.detail());
    }

    @Test
    void a_provider_that_allows_nothing_serves_no_key() {
        assertEquals(
                Reason.PROVIDER_MISCONFIGURED, failed(_ -> MINTED, order().allowing()).reason());
    }

    @Test
    void a_shared_identity_serves_where_it_may_and_targets_are_listed() {
        var shared = new FakeProvider(true, _ -> MINTED);
        Orders order = Orders.of("fake", "{}", "{'aim':'role/a'}").allowing("role/*");

        assertEquals(MINTED, order.sharing().mint(providers(shared)));
        assertTrue(detail(order.mint(providers(shared))).contains("shared_identity"));
        assertTrue(
                detail(order.sharing().allowing("role/*", "**").mint(providers(shared)))
                        .contains("'**' matches every target"));
    }

    @Test
    void an_unknown_type_is_told_with_those_that_are_known() {
        Failed failed = failed(_ -> MINTED, Orders.of("gcp", "{}", "{}"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertEquals(
                "access provider 'cloud' has the type 'gcp', but this broker supports only [fake]",
                failed.detail());
    }

    @Test
    void a_provider_that_forgets_its_deadline_does_not_hold_its_caller() {
        CountDownLatch never = new CountDownLatch(1);

        Failed failed = failed(_ -> await(never), order().within(Duration.ofMillis(50)));

        assertEquals(Reason.PROVIDER_TIMEOUT, failed.reason());
    }

    @Test
    void what_nobody_waits_for_any_more_counts_until_it_ends() {
        HeldCalls held = new HeldCalls();
        AccessProviders providers = providers(new FakeProvider(false, _ -> held.call()));
        while (held.begun() < TenantBulkhead.ofProvider(Orders.MAX_CALLS)) {
            order().within(Duration.ofMillis(50)).mint(providers);
        }

        MintResult next = order().within(Duration.ofSeconds(1)).mint(providers);
        held.letGo();

        assertEquals(
                new MintResult.NotCalled(
                        MintResult.NotCalled.Why.TENANT_BUSY,
                        "the tenant has reached its limit of 30 concurrent calls to access provider 'cloud' (a share of max_calls)"),
                next);
    }

    @Test
    void nothing_is_called_after_the_deadline() {
        Failed failed =
                failed(
                        _ -> {
                            throw new AssertionError("it was called");
                        },
                        order().within(Duration.ofSeconds(-1)));

        assertEquals(Reason.PROVIDER_TIMEOUT, failed.reason());
        assertEquals("the deadline passed before the broker sent the request", failed.detail());
    }

    @Test
    void a_fault_of_the_brokers_is_told_by_its_place_and_not_by_its_words() {
        Failed failed =
                failed(
                        _ -> {
                            throw new IllegalStateException("the-secret");
                        },
                        order());

        assertEquals(Reason.PROVIDER_ERROR, failed.reason());
        assertTrue(failed.detail().contains("IllegalStateException"), failed.detail());
        assertTrue(failed.detail().contains("AccessProvidersTest"), failed.detail());
        assertFalse(failed.detail().contains("the-secret"), failed.detail());
    }

    @Test
    void a_caller_that_is_interrupted_gets_a_result_and_stays_interrupted() {
        CountDownLatch never = new CountDownLatch(1);
        Thread.currentThread().interrupt();

        Failed failed = failed(_ -> await(never), order());

        assertEquals(Reason.PROVIDER_TIMEOUT, failed.reason());
        assertTrue(Thread.interrupted());
    }

    @Test
    void a_key_without_outputs_has_its_types() {
        MintResult named =
                providers(new FakeProvider(false, _ -> MINTED))
                        .prepare(order().access(), order().keySettings())
                        .outputs(new Outputs(Map.of()))
                        .name(MINTED);

        assertEquals(
                new Minted(
                        Map.of("TOKEN", new Secret("the-token")),
                        MINTED.expiresAt(),
                        MINTED.credentialId()),
                named);
    }

    private static MintResult await(CountDownLatch latch) {
        Unchecked.await(latch);
        return MINTED;
    }

    private static Orders order() {
        return Orders.of("fake", "{}", "{}");
    }

    private static MintResult mint(Function<MintOrder, MintResult> minting, Orders order) {
        return order.mint(providers(new FakeProvider(false, minting)));
    }

    private static Failed failed(Function<MintOrder, MintResult> minting, Orders order) {
        return switch (mint(minting, order)) {
            case Failed failed -> failed;
            case Minted _, Withheld _, MintResult.NotCalled _ ->
                    throw new AssertionError("a credential");
        };
    }

    private static String detail(MintResult result) {
        return switch (result) {
            case Minted _, MintResult.NotCalled _ -> throw new AssertionError("a credential");
            case NotMinted why -> why.detail();
        };
    }

    private static AccessProviders providers(AccessProvider type) {
        return new AccessProviders(List.of(type), InstantSource.system());
    }
}
