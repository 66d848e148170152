package io.mintmark.provider.gcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.util.Base64URL;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.NotedIdentity;
import io.mintmark.provider.Orders;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.web.Calls;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;

/**
 * Tries to have a token sent where it's worth something to somebody else. Hosts under {@code
 * .invalid} can't be reached (RFC 6761), so that what counts is whether a token was made.
 */
class WhereGoogleTokensGoTest {
    private static final String STS = "https://sts.googleapis.com";
    private static final String IAM = "https://iamcredentials.googleapis.com";

    private final List<TokenOrder> made = new CopyOnWriteArrayList<>();

    @AutoClose
    private final GoogleStandIn elsewhere =
            GoogleStandIn.trusting(MintingBroker.ISSUER, () -> "{\"keys\":[]}");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://sts.googleapis.com.evil.invalid",
                "https://sts-googleapis.com",
                "https://evilsts.googleapis.com",
                "https://sts.googleapis.co",
                "https://googleapis.com",
                "https://storage.googleapis.com",
                "https://storage.googleapis.com/sts.googleapis.com",
                "https://evil.invalid/https://sts.googleapis.com",
                "https://sts.googleapis.com@evil.invalid",
                "https://evil.invalid?x=sts.googleapis.com",
                "https://evil.invalid#sts.googleapis.com",
                "https://evil.run.app",
                "https://sts.amazonaws.com",
                "https://login.microsoftonline.com",
                "http://sts.googleapis.com",
                "http://iamcredentials.googleapis.com:443",
                "http://127.0.0.1:9",
                "http://localhost:9",
                "https://10.0.0.1",
                "https://169.254.169.254",
                "http://metadata.google.internal",
                "https://metadata.google.internal",
                "https://[::1]",
                "https://sub.listed.invalid",
            })
    void no_token_is_made_if_either_endpoint_is_neither_googles_nor_listed(String url) {
        for (Orders order :
                List.of(
                        GoogleOrders.at(url, IAM, GoogleOrders.DEPLOY),
                        GoogleOrders.at(STS, url, GoogleOrders.DEPLOY),
                        GoogleOrders.at(STS, url, ""))) {
            Failed failed = failed(false, order, "listed.invalid");

            assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason(), failed.detail());
            assertEquals(List.of(), made, failed::detail);
        }
    }

    @Test
    void the_refusal_says_which_setting_and_what_to_do() {
        assertEquals(
                "access provider setting 'iam_endpoint' can't be used: '%s' belongs to GOOGLE, but https://evil.invalid is neither a host of that vendor nor listed in OUTBOUND_ALLOWED_HOSTS"
                        .formatted(GoogleStandIn.PROVIDER),
                failed(false, GoogleOrders.at(STS, "https://evil.invalid", "")).detail());
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://listed.invalid", "https://listed.invalid:8443/google/"})
    void a_listed_host_gets_a_token_as_google_does(String url) {
        Failed failed = failed(false, GoogleOrders.at(url, url, ""), "listed.invalid");

        assertEquals(Reason.PROVIDER_UNREACHABLE, failed.reason());
        assertEquals(
                List.of(GoogleStandIn.PROVIDER), made.stream().map(TokenOrder::audience).toList());
    }

    @Test
    void a_host_that_leads_to_a_listed_address_is_not_listed() {
        // localhost is the exception, so the name is one that everybody could own
        Failed failed =
                failed(false, GoogleOrders.at("http://sts.invalid", IAM, ""), "127.0.0.0/8");

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertEquals(List.of(), made);
    }

    @Test
    void an_identity_that_all_tenants_share_goes_no_further() {
        Orders elsewhereOnly =
                GoogleOrders.at("https://evil.invalid", IAM, GoogleOrders.DEPLOY)
                        .sharing()
                        .allowing(GoogleStandIn.ACCOUNT);
        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed(true, elsewhereOnly).reason());

        Failed unshared = failed(true, GoogleOrders.at(STS, IAM, GoogleOrders.DEPLOY));
        assertTrue(unshared.detail().contains("doesn't have shared_identity"), unshared.detail());
        assertEquals(List.of(), made);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sts.amazonaws.com", "api://AzureADTokenExchange"})
    void a_token_from_outside_that_is_for_another_vendor_does_not_go_to_google(String audience) {
        Orders order =
                GoogleOrders.at(STS, IAM, GoogleOrders.DEPLOY)
                        .sharing()
                        .allowing(GoogleStandIn.ACCOUNT);

        Failed failed = failed(new NotedIdentity(true, made, signed(audience)), order);

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("external identity provider"), failed.detail());
    }

    @Test
    void what_google_gave_goes_nowhere_but_where_the_settings_say() {
        try (GoogleStandIn google =
                GoogleStandIn.trusting(MintingBroker.ISSUER, () -> "{\"keys\":[]}")) {
            google.next(
                    new GoogleAnswer.Saying(
                            200,
                            "{\"access_token\":\"federated\",\"expires_in\":300,"
                                    + "\"token_type\":\"Bearer\",\"issued_token_type\":"
                                    + "\"urn:ietf:params:oauth:token-type:access_token\"}"),
                    new GoogleAnswer.Redirecting(elsewhere.endpoint() + "/v1/token"));

            failed(
                    false,
                    GoogleOrders.at(google.endpoint(), google.endpoint(), GoogleOrders.DEPLOY),
                    "127.0.0.1");

            assertEquals(2, google.calls().size());
            assertEquals(List.of(), elsewhere.calls());
        }
    }

    private static Secret signed(String audience) {
        return new Secret(
                Base64URL.encode("{\"alg\":\"ES256\"}")
                        + "."
                        + Base64URL.encode("{\"aud\":\"%s\"}".formatted(audience))
                        + ".c2ln");
    }

    private Failed failed(boolean shared, Orders order, String... listed) {
        return failed(new NotedIdentity(shared, made), order, listed);
    }

    private static Failed failed(BrokerIdentity identity, Orders order, String... listed) {
        Destinations allowed = new Destinations(List.of(listed));
        InstantSource clock = InstantSource.system();
        var type =
                new GoogleCloud(
                        identity,
                        new TokenDestinations(allowed),
                        new Calls(
                                new TenantHttpClients(allowed),
                                clock,
                                RandomGenerator.getDefault()),
                        clock);
        return switch (order.mint(new AccessProviders(List.of(type), clock))) {
            case MintResult.Minted _ -> throw new AssertionError("a credential");
            case Failed failed -> failed;
            case MintResult.Withheld _, MintResult.NotCalled _ ->
                    throw new AssertionError("no failure");
        };
    }
}
