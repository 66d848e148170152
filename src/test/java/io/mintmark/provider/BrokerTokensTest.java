package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.s3sts.S3Sts;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Tokens of an external identity provider say what it decides, whatever is ordered. */
class BrokerTokensTest {
    private static final TokenOrder ORDER =
            new TokenOrder(
                    new TenantName("acme"),
                    new KeyName("deploy"),
                    Orders.MINT_ID,
                    "https://far.example",
                    false,
                    Map.of());

    @AutoClose private final IssuerStandIn external = IssuerStandIn.start();
    private final Destinations allowed = new Destinations(List.of("listed.example", "127.0.0.1"));

    private record Shown(boolean shared, Secret token) implements BrokerIdentity {
        @Override
        public Secret token(TokenOrder order) {
            return token;
        }

        @Override
        public Optional<String> fault() {
            return Optional.empty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sts.amazonaws.com,                    https://sts.eu-central-1.amazonaws.com",
        "sts.amazonaws.com,                    https://listed.example",
        "sts.amazonaws.com,                    http://127.0.0.1:9",
        "//iam.googleapis.com/projects/1/x,    https://sts.googleapis.com",
        "api://AzureADTokenExchange,           https://login.microsoftonline.com",
        "https://anything.example,             https://sts.evil.example",
    })
    void a_shared_token_goes_to_the_vendor_that_it_is_for(String audience, String endpoint) {
        Secret token = token(Map.of("aud", audience));

        assertEquals(token, shown(token, endpoint));
    }

    @ParameterizedTest
    @CsvSource({
        "sts.amazonaws.com,                 https://sts.evil.example,                AWS",
        "sts.amazonaws.com,                 https://x.execute-api.us-east-1.amazonaws.com, AWS",
        "sts.amazonaws.com,                 https://sts.googleapis.com,              AWS",
        "https://STS.amazonaws.com/,        https://sts.evil.example,                AWS",
        "//iam.googleapis.com/projects/1/x, https://sts.eu-central-1.amazonaws.com,  GOOGLE",
        "api://AzureADTokenExchange,        https://minio.example,                   MICROSOFT",
    })
    void a_shared_token_goes_nowhere_else(String audience, String endpoint, String vendor) {
        UnusableSettingsException refused = refusal(token(Map.of("aud", audience)), endpoint);

        assertTrue(
                refused.getMessage()
                        .startsWith(
                                "the broker's token comes from an external identity provider, and its audience '%s' belongs to %s"
                                        .formatted(audience, vendor)),
                refused.getMessage());
    }

    @Test
    void one_audience_among_several_is_enough_to_keep_it_back() {
        Secret token = token(Map.of("aud", List.of("account", "sts.amazonaws.com")));

        refusal(token, "https://sts.evil.example");
        assertEquals(token, shown(token, "https://sts.us-east-1.amazonaws.com"));
    }

    @Test
    void the_party_that_aws_takes_for_the_audience_counts_too() {
        refusal(
                token(Map.of("aud", "account", "azp", "sts.amazonaws.com")),
                "https://sts.evil.example");
    }

    @Test
    void a_token_that_nobody_can_read_goes_where_admins_sent_it() {
        Secret opaque = new Secret("opaque");

        assertEquals(opaque, shown(opaque, "https://a.example"));
    }

    @Test
    void a_claim_that_storage_reads_policies_from_can_not_be_put_into_it() {
        try (StsClients clients =
                new StsClients(new TenantHttpClients(allowed), MintingBroker.AMBIENT)) {
            var providers =
                    new AccessProviders(
                            List.of(
                                    new S3Sts(
                                            new Shown(true, token(Map.of("aud", "minio"))),
                                            new TokenDestinations(allowed),
                                            new StsCaller(clients, MintingBroker.calls(allowed)))),
                            InstantSource.system());

            MintResult result =
                    Orders.of(
                                    "s3-sts",
                                    "{'endpoint':'https://minio.invalid',"
                                            + "'policy_claim':{'name':'policy','value':'read'}}",
                                    "{'role_arn':'arn:minio:iam:::role/a'}")
                            .sharing()
                            .allowing("arn:minio:iam:::role/a")
                            .mint(providers);

            assertEquals(
                    new Failed(
                            Reason.PROVIDER_MISCONFIGURED,
                            "access provider setting 'policy_claim' can't be used: the broker's"
                                    + " token comes from an external identity provider, which"
                                    + " decides the token's claims"),
                    result);
        }
    }

    private UnusableSettingsException refusal(Secret token, String endpoint) {
        return assertThrows(UnusableSettingsException.class, () -> shown(token, endpoint));
    }

    private BrokerTokens tokens(Secret token) {
        return new BrokerTokens(new Shown(true, token), new TokenDestinations(allowed));
    }

    private Secret token(Map<String, Object> claims) {
        return new Secret(external.sign(claims));
    }

    @Test
    void a_token_that_is_rejected_is_replaced_once() {
        var identity = new Replaceable();
        List<Secret> shown = new ArrayList<>();

        MintResult result = showing(identity, shown, Reason.BROKER_IDENTITY_REJECTED);

        assertEquals(List.of(new Secret("token-1"), new Secret("token-2")), shown);
        assertEquals(new Failed(Reason.BROKER_IDENTITY_REJECTED, "no"), result);
    }

    @Test
    void a_token_stays_where_something_else_is_wrong() {
        for (Reason reason : Reason.values()) {
            List<Secret> shown = new ArrayList<>();
            showing(new Replaceable(), shown, reason);
            assertEquals(reason == Reason.BROKER_IDENTITY_REJECTED ? 2 : 1, shown.size());
        }
    }

    @Test
    void a_replacement_goes_no_more_places_than_the_first() {
        var vendors = token(Map.of("aud", "sts.amazonaws.com"));
        var identity =
                new BrokerIdentity() {
                    @Override
                    public Secret token(TokenOrder order) {
                        return new Secret("opaque");
                    }

                    @Override
                    public Optional<Secret> insteadOf(Secret rejected) {
                        return Optional.of(vendors);
                    }

                    @Override
                    public boolean shared() {
                        return true;
                    }

                    @Override
                    public Optional<String> fault() {
                        return Optional.empty();
                    }
                };

        assertThrows(
                UnusableSettingsException.class,
                () -> showing(identity, new ArrayList<>(), Reason.BROKER_IDENTITY_REJECTED));
    }

    private MintResult showing(BrokerIdentity identity, List<Secret> shown, Reason answer) {
        return new BrokerTokens(identity, new TokenDestinations(allowed))
                .showing(
                        Endpoint.at("https://far.example"),
                        ORDER,
                        token -> {
                            shown.add(token);
                            return new Failed(answer, "no");
                        });
    }

    /** Has another token whenever one is rejected. */
    private static final class Replaceable implements BrokerIdentity {
        private int number = 1;

        @Override
        public Secret token(TokenOrder order) {
            return new Secret("token-" + number);
        }

        @Override
        public Optional<Secret> insteadOf(Secret rejected) {
            number++;
            return Optional.of(new Secret("token-" + number));
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

    private Secret shown(Secret token, String endpoint) {
        List<Secret> shown = new ArrayList<>();
        tokens(token)
                .showing(
                        Endpoint.at(endpoint),
                        ORDER,
                        each -> {
                            shown.add(each);
                            return new Failed(Reason.PROVIDER_ERROR, "enough");
                        });
        return shown.getFirst();
    }
}
