package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.start.StartFailed;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class DemoPortsTest {
    private final Map<String, String> environment = new HashMap<>();

    DemoPortsTest() {
        for (String variable :
                List.of(
                        "SERVER_PORT",
                        "ADMIN_PORT",
                        "CONSOLE_PORT",
                        "DEMO_IDP_PORT",
                        "DEMO_STORAGE_PORT",
                        "DEMO_DATABASE_PORT")) {
            environment.put(variable, Integer.toString(RunningBroker.freePort()));
        }
    }

    private List<String> messages() {
        try {
            DemoPorts.requireFree(environment);
            return List.of();
        } catch (StartFailed e) {
            return String.valueOf(e.getMessage()).lines().toList();
        }
    }

    @Test
    void ports_that_are_free_are_free_afterwards_too() {
        assertEquals(List.of(), messages());
        assertEquals(List.of(), messages());
    }

    @Test
    void each_port_that_is_taken_is_reported_with_the_variable_that_sets_another()
            throws IOException {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket two = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            environment.put("SERVER_PORT", Integer.toString(one.getLocalPort()));
            environment.put("DEMO_DATABASE_PORT", Integer.toString(two.getLocalPort()));
            List<String> messages = messages();
            assertEquals(
                    List.of(
                            "Port %d, of the broker, is taken: stop what uses it, or set another: SERVER_PORT=…"
                                    .formatted(one.getLocalPort()),
                            "Port %d, of PostgreSQL, is taken: stop what uses it, or set another: DEMO_DATABASE_PORT=…"
                                    .formatted(two.getLocalPort())),
                    messages.subList(0, 2));
            assertTrue(messages.getLast().endsWith(" says what uses it."), messages.getLast());
        }
    }

    @Test
    void a_port_that_is_given_to_two_is_taken() {
        environment.put("DEMO_IDP_PORT", environment.get("SERVER_PORT"));
        assertEquals(2, messages().size());
    }

    @Test
    void text_that_is_no_port_stops_the_start() {
        for (String wrong : List.of("eighty", "", "0", "65536", "-1")) {
            environment.put("DEMO_STORAGE_PORT", wrong);
            StartFailed failed =
                    assertThrows(StartFailed.class, () -> DemoPorts.requireFree(environment));
            assertEquals(
                    "DEMO_STORAGE_PORT is '%s'; it must be a port, 1 to 65535".formatted(wrong),
                    failed.getMessage());
        }
    }
}
