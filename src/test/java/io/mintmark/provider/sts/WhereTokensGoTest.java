package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.NotedIdentity;
import io.mintmark.provider.Orders;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.awssts.AwsSts;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.s3sts.S3Sts;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Hosts under {@code .invalid} can't be reached (RFC 6761), so that only the order of a token
 * counts.
 */
class WhereTokensGoTest {
    private static final String ROLE = "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}";

    private final List<TokenOrder> orders = new CopyOnWriteArrayList<>();
    private final Destinations allowed = new Destinations(List.of("listed.invalid"));

    @AutoClose
    private final StsClients clients =
            new StsClients(new TenantHttpClients(allowed), MintingBroker.AMBIENT);

    @ParameterizedTest
    @CsvSource({
        "https://sts.invalid/aws,            https://sts.invalid",
        "https://STS.Invalid.:8443,          https://sts.invalid:8443",
        "https://sts.amazonaws.com.invalid,  https://sts.amazonaws.com.invalid",
        "http://127.0.0.1:9,                 http://127.0.0.1:9",
    })
    void a_provider_that_is_not_aws_gets_a_token_for_itself_alone(String url, String audience) {
        mint(false, Orders.of("aws-sts", provider(url), ROLE));

        assertEquals(audience, orders.getFirst().audience());
        assertEquals(Map.of(), orders.getFirst().extraClaims());
    }

    @Test
    void a_listed_host_gets_a_token_as_aws_does() {
        mint(false, Orders.of("aws-sts", provider("http://listed.invalid"), ROLE));

        assertEquals("sts.amazonaws.com", orders.getFirst().audience());
        assertEquals(
                Set.of("https://aws.amazon.com/source_identity", "https://aws.amazon.com/tags"),
                orders.getFirst().extraClaims().keySet());
    }

    @Test
    void storage_gets_a_token_for_itself_alone() {
        mint(false, Orders.of("s3-sts", "{'endpoint':'https://minio.invalid:9000/x'}", "{}"));

        assertEquals("https://minio.invalid:9000", orders.getFirst().audience());
    }

    @Test
    void no_token_is_made_for_an_audience_that_is_worth_something_elsewhere() {
        mint(
                false,
                Orders.of(
                        "s3-sts",
                        "{'endpoint':'https://minio.invalid','audience':'sts.amazonaws.com'}",
                        "{}"));

        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @CsvSource({"aws-sts, http://sts.invalid", "s3-sts, http://minio.invalid"})
    void no_token_is_made_for_a_provider_that_others_can_listen_to(String type, String url) {
        Failed failed =
                mint(
                        false,
                        type.equals("aws-sts")
                                ? Orders.of(type, provider(url), ROLE)
                                : Orders.of(type, "{'endpoint':'" + url + "'}", "{}"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains("is plain http"), failed.detail());
        assertEquals(List.of(), orders);
    }

    @ParameterizedTest
    @CsvSource({"aws-sts", "s3-sts"})
    void no_shared_token_is_made_where_sharing_is_not_allowed(String type) {
        Failed failed =
                mint(
                        true,
                        type.equals("aws-sts")
                                ? Orders.of(type, provider("https://sts.invalid"), ROLE)
                                : Orders.of(type, "{'endpoint':'https://minio.invalid'}", "{}"));

        assertTrue(failed.detail().contains("doesn't have shared_identity"), failed.detail());
        assertEquals(List.of(), orders);
    }

    private Failed mint(boolean shared, Orders order) {
        BrokerIdentity identity = new NotedIdentity(shared, orders);
        TokenDestinations destinations = new TokenDestinations(allowed);
        StsCaller sts = new StsCaller(clients, MintingBroker.calls(allowed));
        var providers =
                new AccessProviders(
                        List.of(
                                new AwsSts(identity, destinations, sts),
                                new S3Sts(identity, destinations, sts)),
                        InstantSource.system());
        return switch (order.mint(providers)) {
            case Failed failed -> failed;
            case MintResult.Minted _, MintResult.Withheld _, MintResult.NotCalled _ ->
                    throw new AssertionError("a credential");
        };
    }

    private static String provider(String endpoint) {
        return "{'region':'eu-central-1','endpoint':'" + endpoint + "'}";
    }
}
