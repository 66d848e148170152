package io.mintmark.provider.awssts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.Orders;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AwsProviderSettingsTest {

    @ParameterizedTest
    @CsvSource({
        "eu-central-1,   https://sts.eu-central-1.amazonaws.com",
        "us-gov-west-1,  https://sts.us-gov-west-1.amazonaws.com",
        "cn-north-1,     https://sts.cn-north-1.amazonaws.com.cn",
        "eusc-de-east-1, https://sts.eusc-de-east-1.amazonaws.eu",
        "eu-newly-9,     https://sts.eu-newly-9.amazonaws.com",
    })
    void a_region_has_an_sts_of_its_own(String region, String endpoint) {
        assertEquals(endpoint, settings("'region':'" + region + "'").sts().endpoint().origin());
    }

    @Test
    void tokens_and_tags_are_the_default() {
        assertFalse(settings("'region':'eu-central-1'").sts().ambient());
        assertTrue(settings("'region':'eu-central-1'").sessionTags());
    }

    @Test
    void an_endpoint_goes_before_the_regions() {
        assertEquals(
                "https://sts.example/path",
                settings("'region':'eu-central-1','endpoint':'https://sts.example/path'")
                        .sts()
                        .endpoint()
                        .toString());
    }

    private static AwsProviderSettings settings(String members) {
        return AwsProviderSettings.of(Orders.json("{" + members + "}"));
    }
}
