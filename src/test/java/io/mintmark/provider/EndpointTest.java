package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointTest {

    @ParameterizedTest
    @CsvSource({
        "https://sts.example,                  https://sts.example",
        "HTTPS://STS.Example:443/,             https://sts.example",
        "https://sts.example./a/b,             https://sts.example",
        "https://sts.example:8443,             https://sts.example:8443",
        "http://minio:9000,                    http://minio:9000",
        "http://minio:80/,                     http://minio",
        "https://[::1]:9000,                   https://[::1]:9000",
        "https://sts.example:,                 https://sts.example",
    })
    void its_origin_is_scheme_host_and_port_in_one_form(String url, String origin) {
        assertEquals(origin, Endpoint.at(url).origin());
    }

    @ParameterizedTest
    @CsvSource({
        "https://STS.example./a/b?,         must not have a query or a fragment",
        "https://sts.example?x=1,           must not have a query or a fragment",
        "https://evil.example#.amazonaws.com, must not have a query or a fragment",
        "https://sts.amazonaws.com@evil.example, must not have a user name",
        "https://@evil.example,             must not have a user name",
        "https://evil.example\\.amazonaws.com, isn't a URL",
        "https://evil.example%2f.amazonaws.com, has no valid host",
        "https://stś.example,               has no valid host",
        "https://sts.example:0,             has no valid host and port",
        "https://sts.example:65536,         has no valid host and port",
        "https:///path,                     has no valid host",
        "https:sts.example,                 has no valid host",
        "ftp://sts.example,                 must begin with https",
        "sts.example,                       must begin with https",
        "//sts.example,                     must begin with https",
    })
    void what_could_be_read_in_two_ways_is_refused(String url, String why) {
        var refused = assertThrows(IllegalArgumentException.class, () -> Endpoint.at(url));

        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused::getMessage);
    }

    @ParameterizedTest
    @CsvSource({
        "https://sts.example,           https://sts.example/v1/token",
        "https://STS.example.:443/,     https://sts.example/v1/token",
        "http://10.0.0.1:8080/google/,  http://10.0.0.1:8080/google/v1/token",
        "https://sts.example/a,         https://sts.example/a/v1/token",
    })
    void paths_are_appended_to_a_base_with_or_without_a_final_slash(String base, String whole) {
        assertEquals(whole, Endpoint.at(base).below("/v1/token"));
    }

    @ParameterizedTest
    @CsvSource({"HTTPS://STS.Example.:443/Path", "https://sts.example/Path"})
    void it_is_connected_to_as_it_was_looked_at(String url) {
        assertEquals("https://sts.example/Path", Endpoint.at(url).uri().toString());
    }
}
