package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class UnknownVariablesTest {
    @Test
    void a_misspelt_variable_is_named_with_the_nearest_setting() {
        assertEquals(
                List.of(
                        "AUDIT_SIGNING_KEYFILE is not a setting and has no effect; the nearest setting"
                                + " is AUDIT_SIGNING_KEY_FILE",
                        "RATE_LIMIT_REQUEST is not a setting and has no effect; the nearest setting is"
                                + " RATE_LIMIT_REQUESTS",
                        "TRUSTED_PROXY is not a setting and has no effect; the nearest setting is"
                                + " TRUSTED_PROXIES"),
                UnknownVariables.warnings(
                        Map.of(
                                "TRUSTED_PROXY", "10.0.0.1",
                                "RATE_LIMIT_REQUEST", "1",
                                "AUDIT_SIGNING_KEYFILE", "/x")));
    }

    @Test
    void settings_and_variables_of_others_are_no_matter() {
        assertEquals(
                List.of(),
                UnknownVariables.warnings(
                        Map.of(
                                "SERVER_PORT", "8080",
                                "RATE_LIMIT_REQUESTS", "1",
                                "MINTMARK_URL", "https://broker.example.com",
                                "PATH", "/bin",
                                "SERVER", "x")));
    }

    @Test
    void what_kubernetes_sets_for_a_service_named_broker_is_no_matter() {
        assertEquals(
                List.of(),
                UnknownVariables.warnings(
                        Map.of(
                                "BROKER_SERVICE_HOST", "10.0.0.1",
                                "BROKER_SERVICE_PORT", "80",
                                "BROKER_SERVICE_PORT_HTTP", "80",
                                "BROKER_PORT", "tcp://10.0.0.1:80",
                                "BROKER_PORT_80_TCP", "tcp://10.0.0.1:80",
                                "BROKER_PORT_80_TCP_ADDR", "10.0.0.1",
                                "BROKER_PORT_53_UDP_PROTO", "udp")));
    }
}
