package io.mintmark.provider.azure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.Orders;
import io.mintmark.provider.TokenEndpoint;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class AzureTest {
    private static final String SCOPE = "https://management.azure.com/.default";
    private static final Secret TOKEN = new Secret("the-entra-token-1");

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final EntraStandIn entra =
            new EntraStandIn(
                    MintingBroker.ISSUER, broker.identity()::keySet, "tenant:acme:key:deploy");

    @Test
    void an_application_that_trusts_the_broker_gets_a_token() {
        Instant before = Instant.now();

        Minted minted = broker.minted(order());

        assertEquals(
                Map.of(
                        "AccessToken", TOKEN,
                        "Expiration", new Secret(minted.expiresAt().toString()),
                        "TenantId", new Secret(EntraStandIn.DIRECTORY),
                        "Scope", new Secret(SCOPE)),
                minted.fields());
        assertEquals(HexFormat.of().formatHex(TOKEN.hash()), minted.credentialId());
        Duration life = Duration.between(before, minted.expiresAt());
        assertTrue(Math.abs(life.toSeconds() - EntraStandIn.LIFETIME) <= 20, life::toString);
    }

    @Test
    void the_mint_id_is_in_the_assertion_and_is_the_correlation_id() throws ParseException {
        broker.minted(order());

        OAuthCall call = entra.endpoint().calls().getFirst();
        JWTClaimsSet assertion = EntraStandIn.assertion(call);
        assertEquals(Orders.MINT_ID.toString(), assertion.getJWTID());
        assertEquals("tenant:acme:key:deploy", assertion.getSubject());
        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.header("client-request-id"));
    }

    @Test
    void a_slash_after_the_authority_changes_nothing() {
        broker.minted(order(",'authority':'" + entra.authority() + "/'", SCOPE));

        assertEquals(
                "/" + EntraStandIn.DIRECTORY + "/oauth2/v2.0/token",
                entra.endpoint().calls().getFirst().path());
    }

    @Test
    void an_authority_may_have_a_path() {
        broker.failed(order(",'authority':'" + entra.authority() + "/proxy/entra/'", SCOPE));

        assertEquals(
                "/proxy/entra/" + EntraStandIn.DIRECTORY + "/oauth2/v2.0/token",
                entra.endpoint().calls().getFirst().path());
    }

    @Test
    void a_key_that_entra_does_not_know_is_the_brokers_identity_refused() {
        try (EntraStandIn other =
                new EntraStandIn(
                        MintingBroker.ISSUER, broker.identity()::keySet, "tenant:acme:key:other")) {
            Failed failed =
                    broker.assertFailed(
                            Reason.BROKER_IDENTITY_REJECTED, order(authority(other), SCOPE));
            assertTrue(
                    failed.detail().startsWith("invalid_client: AADSTS700213: No matching"),
                    failed.detail());
        }
    }

    @Test
    void another_issuer_and_unknown_keys_are_the_brokers_identity_refused() {
        try (EntraStandIn stranger =
                        new EntraStandIn(
                                "https://other.example",
                                broker.identity()::keySet,
                                "tenant:acme:key:deploy");
                EntraStandIn keyless =
                        new EntraStandIn(
                                MintingBroker.ISSUER,
                                () -> "{\"keys\":[]}",
                                "tenant:acme:key:deploy")) {
            assertEquals(
                    Reason.BROKER_IDENTITY_REJECTED,
                    broker.failed(order(authority(stranger), SCOPE)).reason());
            assertEquals(
                    Reason.BROKER_IDENTITY_REJECTED,
                    broker.failed(order(authority(keyless), SCOPE)).reason());
        }
    }

    @Test
    void a_wrong_application_directory_or_scope_is_the_settings_fault() {
        assertEquals(
                Reason.PROVIDER_MISCONFIGURED,
                broker.failed(
                                Orders.of(
                                        "azure",
                                        provider(authority(entra)),
                                        "{'client_id':'x','scope':'%s'}".formatted(SCOPE)))
                        .reason());
        assertEquals(
                Reason.PROVIDER_MISCONFIGURED,
                broker.failed(
                                Orders.of(
                                        "azure",
                                        "{'tenant_id':'contoso.com'%s}".formatted(authority(entra)),
                                        key(SCOPE)))
                        .reason());
        assertEquals(
                Reason.PROVIDER_MISCONFIGURED,
                broker.failed(order(authority(entra), "https://management.azure.com/read"))
                        .reason());
    }

    @ParameterizedTest
    @CsvSource({
        // the assertion, or who it is from
        "401, invalid_client,         70021,   BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         700211,  BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         700212,  BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         700213,  BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         7002138, BROKER_IDENTITY_REJECTED",
        "400, invalid_request,        70021,   BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         700024,  BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         700027,  BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         7000215, BROKER_IDENTITY_REJECTED",
        "401, invalid_client,         7000222, BROKER_IDENTITY_REJECTED",
        "400, invalid_request,        50166,   BROKER_IDENTITY_REJECTED",
        "400, invalid_request,        50027,   BROKER_IDENTITY_REJECTED",
        "400, invalid_grant,          50013,   BROKER_IDENTITY_REJECTED",
        "400, invalid_request,        700222,  BROKER_IDENTITY_REJECTED",
        "400, invalid_request,        900384,  BROKER_IDENTITY_REJECTED",
        // known, and not permitted
        "400, invalid_grant,          53003,   PROVIDER_REJECTED",
        "400, invalid_client,         530032,  PROVIDER_REJECTED",
        "400, invalid_grant,          53011,   PROVIDER_REJECTED",
        "401, unauthorized_client,    7000112, PROVIDER_REJECTED",
        "400, unauthorized_client,    70001,   PROVIDER_REJECTED",
        "400, invalid_grant,          65001,   PROVIDER_REJECTED",
        "400, invalid_grant,          50105,   PROVIDER_REJECTED",
        "400, invalid_grant,          501051,  PROVIDER_REJECTED",
        "400, invalid_request,        500021,  PROVIDER_REJECTED",
        "400, invalid_request,        5000224, PROVIDER_REJECTED",
        "400, unauthorized_client,    1000031, PROVIDER_REJECTED",
        // nothing there by that name
        "400, unauthorized_client,    700016,  PROVIDER_MISCONFIGURED",
        "400, unauthorized_client,    700011,  PROVIDER_MISCONFIGURED",
        "400, invalid_request,        90002,   PROVIDER_MISCONFIGURED",
        "400, invalid_request,        900023,  PROVIDER_MISCONFIGURED",
        "400, invalid_request,        90038,   PROVIDER_MISCONFIGURED",
        "400, invalid_request,        9001023, PROVIDER_MISCONFIGURED",
        "400, invalid_resource,       500011,  PROVIDER_MISCONFIGURED",
        "400, invalid_resource,       50001,   PROVIDER_MISCONFIGURED",
        "400, invalid_resource,       650057,  PROVIDER_MISCONFIGURED",
        "400, invalid_scope,          70011,   PROVIDER_MISCONFIGURED",
        "400, invalid_scope,          1002012, PROVIDER_MISCONFIGURED",
        "400, invalid_request,        700022,  PROVIDER_MISCONFIGURED",
        "401, invalid_client,         700025,  PROVIDER_MISCONFIGURED",
        "400, invalid_request,        900144,  PROVIDER_MISCONFIGURED",
        // too much
        "400, invalid_grant,          50196,   PROVIDER_THROTTLED",
        "400, invalid_request,        90055,   PROVIDER_THROTTLED",
        // its own trouble, whatever it is called
        "400, invalid_request,        90033,   PROVIDER_ERROR",
        "400, invalid_request,        90024,   PROVIDER_ERROR",
        "400, invalid_grant,          50000,   PROVIDER_ERROR",
        "500, server_error,           90036,   PROVIDER_ERROR",
        // a number that nobody has told us of
        "401, invalid_client,         7999999, BROKER_IDENTITY_REJECTED",
        "400, invalid_scope,          7999999, PROVIDER_MISCONFIGURED",
        "400, unauthorized_client,    7999999, PROVIDER_REJECTED",
        "400, interaction_required,   7999999, PROVIDER_ERROR",
    })
    void every_number_of_entras_has_its_reason(
            int status, String error, String number, Reason reason) {
        entra.endpoint()
                .next(
                        TokenEndpoint.refusing(
                                status,
                                error,
                                "AADSTS%s: Its words.\r\nTrace ID: 1".formatted(number)));

        Failed failed = broker.assertFailed(reason, order());
        assertTrue(
                failed.detail().startsWith("%s: AADSTS%s: Its words.".formatted(error, number)),
                failed.detail());
    }

    @Test
    void a_number_counts_only_where_entra_puts_it() {
        entra.endpoint()
                .next(
                        TokenEndpoint.refusing(
                                400, "invalid_scope", "The client said AADSTS70021: nonsense"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, broker.failed(order()).reason());
    }

    @Test
    void throttling_is_waited_out_and_told_when_it_lasts() {
        entra.endpoint().next(TokenEndpoint.saying(429, ""));
        broker.minted(order());

        entra.endpoint()
                .next(
                        TokenEndpoint.saying(429, ""),
                        TokenEndpoint.saying(429, ""),
                        TokenEndpoint.saying(429, ""));
        assertEquals(Reason.PROVIDER_THROTTLED, broker.failed(order()).reason());
    }

    @Test
    void a_token_without_lifetime_is_withheld() {
        entra.endpoint()
                .next(TokenEndpoint.saying(200, "{'access_token':'t','token_type':'Bearer'}"));

        Withheld withheld = broker.withheld(order());

        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertEquals(HexFormat.of().formatHex(new Secret("t").hash()), withheld.credentialId());
        assertTrue(withheld.detail().contains("expires_in"), withheld.detail());
    }

    @Test
    void a_token_that_entra_quotes_is_not_told() {
        entra.endpoint().next(TokenEndpoint.quoting("client_assertion"));

        Failed failed = broker.failed(order());

        assertTrue(failed.detail().contains("can't read [secret]"), failed.detail());
        assertFalse(failed.detail().contains("eyJ"), failed.detail());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {}                                              | {'client_id':'a','scope':'s'} | 'tenant_id' is missing
                    {'tenant_id':'a/b'}                             | {'client_id':'a','scope':'s'} | 'tenant_id' 'a/b' is neither the id
                    {'tenant_id':'..'}                              | {'client_id':'a','scope':'s'} | 'tenant_id' '..' is neither the id
                    {'tenant_id':'a?b=c'}                           | {'client_id':'a','scope':'s'} | 'tenant_id' 'a?b=c' is neither the id
                    {'tenant_id':'a','authority':'login'}           | {'client_id':'a','scope':'s'} | must begin with https://
                    {'tenant_id':'a','authority':'https://x.example/?a'} | {'client_id':'a','scope':'s'} | must not have a query or a fragment
                    {'tenant_id':'a','authority':'https://u@login.microsoftonline.com'} | {'client_id':'a','scope':'s'} | must not have a user name
                    {'tenant_id':'a','audience':'x'}                | {'client_id':'a','scope':'s'} | 'audience' is not a setting
                    {'tenant_id':'a'}                               | {'scope':'s'}                 | 'client_id' is missing
                    {'tenant_id':'a'}                               | {'client_id':'a','scopes':[]} | 'scopes' is not a setting
                    """)
    void settings_that_cannot_work_are_told_before_anything_is_sent(
            String provider, String key, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, Orders.of("azure", provider, key));
    }

    @Test
    void a_key_without_scope_is_told_before_anything_is_sent() {
        Failed failed =
                broker.failed(Orders.of("azure", provider(authority(entra)), "{'client_id':'a'}"));

        assertEquals("key setting 'scope' is missing", failed.detail());
        assertEquals(List.of(), entra.endpoint().calls());
    }

    @Test
    void its_application_is_the_target_that_the_provider_limits() {
        Failed failed = broker.failed(order().allowing("22222222-2222-3333-4444-555555555555"));

        assertTrue(
                failed.detail()
                        .startsWith("the key's target is '%s'".formatted(EntraStandIn.APPLICATION)),
                failed.detail());
        assertEquals(List.of(), entra.endpoint().calls());
    }

    private Orders order() {
        return order(authority(entra), SCOPE);
    }

    private static Orders order(String furtherProviderSettings, String scope) {
        return Orders.of("azure", provider(furtherProviderSettings), key(scope));
    }

    private static String authority(EntraStandIn entra) {
        return ",'authority':'" + entra.authority() + "'";
    }

    private static String provider(String further) {
        return "{'tenant_id':'%s'%s}".formatted(EntraStandIn.DIRECTORY, further);
    }

    private static String key(String scope) {
        return "{'client_id':'%s','scope':'%s'}".formatted(EntraStandIn.APPLICATION, scope);
    }
}
