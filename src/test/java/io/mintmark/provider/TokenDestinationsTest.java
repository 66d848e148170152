package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.provider.gcp.GoogleStandIn;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Optional;
import java.util.Set;

class TokenDestinationsTest {
    private static final Optional<String> NONE = Optional.empty();

    private final TokenDestinations destinations = allowing("sts.internal", "10.0.0.0/8");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://sts.amazonaws.com",
                "https://sts.eu-central-1.amazonaws.com",
                "https://STS.EU-Central-1.AmazonAWS.com./",
                "https://sts.us-gov-west-1.amazonaws.com",
                "https://sts-fips.us-east-1.amazonaws.com",
                "https://sts.cn-north-1.amazonaws.com.cn",
                "https://sts.eusc-de-east-1.amazonaws.eu",
                "https://vpce-0a1b2c-x.sts.eu-central-1.vpce.amazonaws.com",
                "https://sts.internal",
                "http://sts.internal:8080",
                "http://10.1.2.3:4566",
            })
    void tokens_for_aws_go_to_its_token_services_and_to_listed_hosts(String url) {
        assertTrue(destinations.takesAwsTokens(Endpoint.at(url)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://sts.amazonaws.com",
                "https://evil.example",
                "https://stsamazonaws.com",
                "https://sts.evilamazonaws.com",
                "https://sts.amazonaws.com.evil.example",
                "https://sts.amazonaws.com.cn.evil.example",
                "https://evil.example/sts.amazonaws.com",
                "https://amazonaws.com",
                "https://x.execute-api.eu-central-1.amazonaws.com",
                "https://ec2-1-2-3-4.compute-1.amazonaws.com",
                "https://sts.s3.amazonaws.com",
                "https://sts.s3.eu-central-1.amazonaws.com",
                "https://x.sts.eu-central-1.amazonaws.com",
                "https://vpce-0a-x.vpce-svc-0b.eu-central-1.vpce.amazonaws.com",
                "https://sts.googleapis.com",
                "https://evil.sts.internal",
                "https://11.0.0.1",
            })
    void they_go_nowhere_else(String url) {
        assertFalse(destinations.takesAwsTokens(Endpoint.at(url)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sts.amazonaws.com",
                "STS.AmazonAWS.com",
                "https://sts.amazonaws.com",
                "sts.amazonaws.com.",
                "sts.amazonaws.com:443",
                "sts.eu-central-1.amazonaws.com.cn",
                "https://signin.aws.amazon.com/x",
                "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
                "https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
                "api://AzureADTokenExchange",
                "api://azureadtokenexchangeusgov",
                "https://login.microsoftonline.com/x",
            })
    void an_audience_of_a_vendors_is_for_its_hosts_only(String audience) {
        Endpoint minio = Endpoint.at("https://minio.example:9000");

        String objection = destinations.objection(minio, audience).orElseThrow();

        assertTrue(objection.contains("https://minio.example:9000"), objection);
        assertEquals(NONE, destinations.objection(Endpoint.at("http://sts.internal"), audience));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://sts.googleapis.com",
                "https://STS.GoogleAPIs.com.:443/",
                "https://sts.googleapis.com:8443",
                "https://iamcredentials.googleapis.com",
            })
    void googles_audience_is_for_the_hosts_of_its_token_services_at_any_port(String url) {
        String audience = GoogleStandIn.PROVIDER;

        assertEquals(NONE, destinations.objection(Endpoint.at(url), audience));
    }

    @ParameterizedTest
    @ValueSource(strings = {"minio", "https://minio.example", "amazonaws.com.example", "sts"})
    void any_other_audience_can_be_chosen(String audience) {
        assertEquals(NONE, destinations.objection(Endpoint.at("https://minio.example"), audience));
    }

    @Test
    void a_vendors_audience_is_not_for_another_vendor() {
        Endpoint google = Endpoint.at("https://sts.googleapis.com");

        assertTrue(destinations.objection(google, "sts.amazonaws.com").isPresent());
        assertEquals(NONE, destinations.objection(google, "//iam.googleapis.com/x"));
    }

    @Test
    void the_refusal_names_the_setting_that_asks_for_it() {
        Endpoint minio = Endpoint.at("https://minio.example");
        Settings settings =
                Settings.ofProvider(
                        Orders.json("{'audience':'sts.amazonaws.com'}"), Set.of("audience"));

        var refused =
                assertThrows(
                        UnusableSettingsException.class,
                        () -> destinations.audience(minio, settings, "audience"));

        assertEquals(
                "access provider setting 'audience' can't be used: 'sts.amazonaws.com' belongs"
                        + " to AWS, but https://minio.example is neither a host of that vendor nor"
                        + " listed in OUTBOUND_ALLOWED_HOSTS",
                refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://anywhere.example",
                "http://localhost:9000",
                "http://127.0.0.1",
                "http://[::1]",
                "http://sts.internal"
            })
    void what_is_encrypted_local_or_listed_is_confidential(String url) {
        assertTrue(destinations.isConfidential(Endpoint.at(url)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://anywhere.example", "http://localhost.example", "http://127.example"})
    void plain_http_to_anyone_else_is_not(String url) {
        assertFalse(destinations.isConfidential(Endpoint.at(url)));
    }

    @Test
    void localhost_is_listed_with_its_address() {
        Endpoint localhost = Endpoint.at("http://localhost:4566");

        assertTrue(allowing("127.0.0.1").takesAwsTokens(localhost));
        assertFalse(destinations.takesAwsTokens(localhost));
    }

    private static TokenDestinations allowing(String... hosts) {
        return new TokenDestinations(new Destinations(List.of(hosts)));
    }
}
