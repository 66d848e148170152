package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.azure.Azure;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.kubernetes.Kubernetes;
import io.mintmark.provider.oauth2.OAuth2;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TokenCalls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Attempts to have a token sent where it is worth something. The identity notes what is ordered and
 * then has none, so that nothing leaves for hosts that exist.
 */
class WhereOAuthTokensGoTest {
    private static final String SECRET = "an order was noted, and nothing is sent";

    private final List<TokenOrder> orders = new CopyOnWriteArrayList<>();
    private final Destinations allowed = new Destinations(List.of("listed.invalid", "10.1.0.0/16"));

    @ParameterizedTest
    @CsvSource({
        "https://login.microsoftonline.com,         api://AzureADTokenExchange",
        "https://login.microsoftonline.com/,        api://AzureADTokenExchange",
        "https://LOGIN.MicrosoftOnline.com.,        api://AzureADTokenExchange",
        "https://login.microsoftonline.com:443,     api://AzureADTokenExchange",
        "https://login.microsoftonline.us,          api://AzureADTokenExchangeUSGov",
        "https://login.partner.microsoftonline.cn,  api://AzureADTokenExchangeChina",
        "https://login.chinacloudapi.cn/,           api://AzureADTokenExchangeChina",
        "https://listed.invalid,                    api://AzureADTokenExchange",
        "http://listed.invalid:8080/entra,          api://AzureADTokenExchange",
        "http://10.1.2.3,                           api://AzureADTokenExchange",
    })
    void each_cloud_of_entras_gets_tokens_with_its_own_audience(String authority, String audience) {
        azure(authority);

        assertEquals(audience, orders.getFirst().audience());
        assertTrue(orders.getFirst().rs256Only());
    }

    @Test
    void without_an_authority_it_is_the_worlds() {
        mint(Orders.of("azure", "{'tenant_id':'a'}", "{'client_id':'b','scope':'c/.default'}"));

        assertEquals("api://AzureADTokenExchange", orders.getFirst().audience());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://login.microsoftonline.com.evil.example",
                "https://login-microsoftonline.com",
                "https://evil.login.microsoftonline.com",
                "https://login.microsoftonlinecom.evil.example",
                "https://login.microsoftonline.com@evil.example",
                "https://evil.example/login.microsoftonline.com",
                "https://evil.example#login.microsoftonline.com",
                "https://login.microsoftonline.co",
                "https://login.microsoftonline.cn",
                "https://login.windows.net.evil.example",
                "https://xn--login-microsoftonline.com",
                "https://sts.amazonaws.com",
                "https://evil.listed.invalid",
                "http://login.microsoftonline.com",
                "http://127.0.0.1:8080",
                "http://localhost",
                "https://10.2.0.1",
                "https://169.254.169.254",
                "https://[::1]",
                "file:///etc/passwd",
            })
    void no_token_that_entra_accepts_is_made_for_anybody_else(String authority) {
        Failed failed = azure(authority);

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("'authority'"), failed.detail());
        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @CsvSource({
        "https://auth.example/oauth2/token,  https://auth.example",
        "https://AUTH.example.:8443/token,   https://auth.example:8443",
        "https://auth.example:443,           https://auth.example",
        "http://localhost:8080/token,        http://localhost:8080",
        "http://listed.invalid/token,        http://listed.invalid",
        "https://login.microsoftonline.com/x/oauth2/v2.0/token, https://login.microsoftonline.com",
        "https://sts.amazonaws.com,          https://sts.amazonaws.com",
    })
    void an_authorization_server_gets_a_token_for_itself_alone(String url, String audience) {
        oauth2(url, "");

        assertEquals(audience, orders.getFirst().audience());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sts.amazonaws.com",
                "STS.AMAZONAWS.COM",
                "https://sts.amazonaws.com/",
                "sts.amazonaws.com.",
                "sts.amazonaws.com:443",
                "https://sts.amazonaws.com:443/?x#y",
                "//sts.amazonaws.com",
                "sts.cn-north-1.amazonaws.com.cn",
                "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
                "https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
                "https://sts.googleapis.com",
                "https://accounts.google.com",
                "api://AzureADTokenExchange",
                "API://azureadtokenexchange",
                "AzureADTokenExchange",
                "api://AzureADTokenExchange/",
                "api://AzureADTokenExchangeUSGov",
                "api://AzureADTokenExchangeChina",
                "api://AzureADTokenExchangeFrance",
                "https://login.microsoftonline.com/common/v2.0",
            })
    void no_token_is_made_for_a_vendors_audience(String audience) {
        Failed failed =
                oauth2(
                        "https://auth.example/token",
                        ",'subject_audience':'%s'".formatted(audience));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("belongs to"), failed.detail());
        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @CsvSource({
        "https://login.microsoftonline.us/token,          api://AzureADTokenExchange",
        "https://login.partner.microsoftonline.cn/token,  api://AzureADTokenExchange",
        "https://login.microsoftonline.com/token,         api://AzureADTokenExchangeChina",
        "https://login.microsoftonline.com/token,         sts.amazonaws.com",
        "https://sts.amazonaws.com/token,                 api://AzureADTokenExchange",
    })
    void a_clouds_audience_is_not_for_another_cloud(String url, String audience) {
        Failed failed = oauth2(url, ",'subject_audience':'%s'".formatted(audience));

        assertTrue(failed.detail().contains("belongs to"), failed.detail());
        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'server':'http://cluster.example'                                      | 'server'
                    'server':'http://10.2.0.1:8080'                                        | 'server'
                    'server':'https://cluster.example','audience':'sts.amazonaws.com'      | belongs to AWS
                    'server':'https://cluster.example','audience':'api://AzureADTokenExchange' | belongs to MICROSOFT
                    'server':'https://sts.googleapis.com/a','audience':'sts.amazonaws.com' | belongs to AWS
                    """)
    void no_token_for_a_cluster_goes_in_clear_or_is_worth_anything_elsewhere(
            String settings, String told) {
        Failed failed =
                mint(
                        Orders.of(
                                "kubernetes",
                                "{" + settings + "}",
                                "{'service_account':'shop/deployer'}"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains(told), failed.detail());
        assertEquals(List.of(), orders);
    }

    @Test
    void a_cluster_gets_a_token_for_itself_alone() {
        mint(
                Orders.of(
                        "kubernetes",
                        "{'server':'https://cluster.example:6443/base'}",
                        "{'service_account':'shop/deployer'}"));

        assertEquals("https://cluster.example:6443", orders.getFirst().audience());
    }

    @Test
    void a_vendors_audience_is_for_the_vendor_and_for_listed_hosts() {
        oauth2(
                "https://login.microsoftonline.com/token",
                ",'subject_audience':'api://AzureADTokenExchange'");
        oauth2("https://listed.invalid/token", ",'subject_audience':'sts.amazonaws.com'");

        assertEquals(
                List.of("api://AzureADTokenExchange", "sts.amazonaws.com"),
                orders.stream().map(TokenOrder::audience).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://auth.example/token", "http://10.2.0.1/token", "ftp://auth.example"})
    void no_token_is_made_for_a_server_that_others_can_listen_to(String url) {
        Failed failed = oauth2(url, "");

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("'token_endpoint'"), failed.detail());
        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @ValueSource(strings = {"azure", "oauth2", "kubernetes"})
    void no_shared_token_is_made_where_sharing_is_not_allowed(String type) {
        Orders order =
                switch (type) {
                    case "azure" ->
                            Orders.of(
                                    type,
                                    "{'tenant_id':'a'}",
                                    "{'client_id':'b','scope':'c/.default'}");
                    case "oauth2" ->
                            Orders.of(type, "{'token_endpoint':'https://auth.example'}", "{}");
                    default ->
                            Orders.of(
                                    type,
                                    "{'server':'https://cluster.example'}",
                                    "{'service_account':'shop/deployer'}");
                };

        Failed failed = failed(true, order);

        assertTrue(failed.detail().contains("doesn't have shared_identity"), failed.detail());
        assertEquals(List.of(), orders);
    }

    private Failed azure(String authority) {
        return mint(
                Orders.of(
                        "azure",
                        "{'tenant_id':'a','authority':'%s'}".formatted(authority),
                        "{'client_id':'b','scope':'c/.default'}"));
    }

    private Failed oauth2(String url, String further) {
        return mint(Orders.of("oauth2", "{'token_endpoint':'%s'%s}".formatted(url, further), "{}"));
    }

    private Failed mint(Orders order) {
        return failed(false, order);
    }

    @ParameterizedTest
    @CsvSource({
        "https://auth.example,          api://AzureADTokenExchange, belongs to" + " MICROSOFT",
        "https://auth.example,          sts.amazonaws.com,          belongs to AWS",
        "https://listed.invalid/token,  api://AzureADTokenExchange, listed.invalid can't be"
                + " reached",
        "https://auth.invalid/token,    https://auth.invalid,       auth.invalid can't be reached",
    })
    void a_shared_token_goes_where_its_audience_is_harmless(
            String url, String audience, String told) {
        Failed failed =
                failed(
                        new External(audience),
                        Orders.of(
                                        "oauth2",
                                        "{'token_endpoint':'%s'}".formatted(url),
                                        "{'audience':'a'}")
                                .sharing()
                                .allowing("a"));

        assertTrue(failed.detail().contains(told), failed.detail());
    }

    @Test
    void a_shared_token_for_another_cloud_does_not_go_to_entra() {
        Failed failed =
                failed(
                        new External("sts.amazonaws.com"),
                        Orders.of(
                                        "azure",
                                        "{'tenant_id':'a'}",
                                        "{'client_id':'b','scope':'c/.default'}")
                                .sharing()
                                .allowing("b"));

        assertTrue(failed.detail().contains("belongs to AWS"), failed.detail());
    }

    private Failed failed(boolean shared, Orders order) {
        return failed(new EmptyHanded(shared, orders), order);
    }

    private Failed failed(BrokerIdentity identity, Orders order) {
        InstantSource clock = InstantSource.system();
        TokenDestinations destinations = new TokenDestinations(allowed);
        var secrets = new SettingSecrets(new SecretFiles(Optional.empty()));
        var http = new Calls(new TenantHttpClients(allowed), clock, RandomGenerator.getDefault());
        var calls = new TokenCalls(http, clock);
        var providers =
                new AccessProviders(
                        List.of(
                                new Azure(identity, destinations, calls),
                                new OAuth2(
                                        identity,
                                        (_, _, _) -> new Secret(SECRET),
                                        secrets,
                                        destinations,
                                        calls),
                                new Kubernetes(identity, secrets, destinations, http)),
                        clock);
        return switch (order.mint(providers)) {
            case MintResult.Minted _ -> throw new AssertionError("a credential");
            case Failed failed -> failed;
            case MintResult.Withheld _, MintResult.NotCalled _ ->
                    throw new AssertionError("no failure");
        };
    }

    /** Has one token for all, whatever is ordered. */
    private record External(String audience) implements BrokerIdentity {
        @Override
        public Secret token(TokenOrder order) {
            return new Secret(
                    Stream.of("{\"alg\":\"RS256\"}", "{\"aud\":\"%s\"}".formatted(audience), "x")
                            .map(part ->
                                    Base64.getUrlEncoder()
                                            .withoutPadding()
                                            .encodeToString(part.getBytes(StandardCharsets.UTF_8)))
                            .collect(Collectors.joining(".")));
        }

        @Override
        public boolean shared() {
            return true;
        }

        @Override
        public Optional<String> fault() {
            return Optional.empty();
        }
    }

    private record EmptyHanded(boolean shared, List<TokenOrder> orders) implements BrokerIdentity {
        @Override
        public Secret token(TokenOrder order) {
            orders.add(order);
            throw new IllegalStateException(SECRET);
        }

        @Override
        public Optional<String> fault() {
            return Optional.empty();
        }
    }
}
