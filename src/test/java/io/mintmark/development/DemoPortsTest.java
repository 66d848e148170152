package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.RunningBroker;
import io.mintmark.wiring.StartFailed;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The two ports that no setting moves may be taken where this runs, so only the others count. */
class DemoPortsTest {
    private final Map<String, String> environment = new HashMap<>();

    DemoPortsTest() {
        for (String setting : List.of("SERVER_PORT", "ADMIN_PORT", "CONSOLE_PORT")) {
            environment.put(setting, Integer.toString(RunningBroker.freePort()));
        }
    }

    private List<String> taken() {
        try {
            DemoPorts.requireFree(environment);
            return List.of();
        } catch (StartFailed e) {
            return String.valueOf(e.getMessage())
                    .lines()
                    .filter(line -> line.contains("_PORT"))
                    .toList();
        }
    }

    @Test
    void ports_that_are_free_are_free_afterwards_too() {
        assertEquals(List.of(), taken());
        assertEquals(List.of(), taken());
    }

    @Test
    void each_port_that_is_taken_is_told_with_what_to_do() throws IOException {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket two = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            environment.put("SERVER_PORT", Integer.toString(one.getLocalPort()));
            environment.put("CONSOLE_PORT", Integer.toString(two.getLocalPort()));
            assertEquals(
                    List.of(
                            "Port %d, of the broker, is taken: stop what uses it, or set another: SERVER_PORT=…"
                                    .formatted(one.getLocalPort()),
                            "Port %d, of the console, is taken: stop what uses it, or set another: CONSOLE_PORT=…"
                                    .formatted(two.getLocalPort())),
                    taken());
        }
    }

    @Test
    void a_port_that_is_given_to_two_is_taken() {
        environment.put("ADMIN_PORT", environment.get("SERVER_PORT"));
        assertEquals(1, taken().size());
    }

    @Test
    void what_is_no_port_is_left_to_the_settings() {
        environment.put("SERVER_PORT", "eighty");
        assertEquals(List.of(), taken());
    }

    @Test
    void the_lines_end_with_how_to_find_who_has_it() {
        environment.put("ADMIN_PORT", environment.get("SERVER_PORT"));
        StartFailed failed =
                assertThrows(StartFailed.class, () -> DemoPorts.requireFree(environment));
        assertTrue(String.valueOf(failed.getMessage()).endsWith(" says what uses it."));
    }
}
