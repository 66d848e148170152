package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

class ReservedPortsTest {
    /** Another JVM of tests, which begins at the port before the one that it is given. */
    static final class Other {
        private Other() {}

        @SuppressWarnings("SystemOut")
        public static void main(String[] arguments) {
            System.out.print(new ReservedPorts(Integer.parseInt(arguments[0]) - 1).reserve());
        }
    }

    private static int otherAskedFor(int port) throws IOException {
        Process other =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Other.class.getName(),
                                Integer.toString(port))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        return Integer.parseInt(
                new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    @Test
    void no_other_jvm_gets_a_port_that_this_one_has_and_does_not_use_yet() throws IOException {
        int mine = ReservedPorts.next();

        int others = otherAskedFor(mine);

        assertTrue(others > mine, others + " is not after " + mine);
    }

    @Test
    void a_port_that_is_listened_on_is_left_out() throws IOException {
        int free = ReservedPorts.next();
        int other = otherAskedFor(free + 1);
        try (var _ = new ServerSocket(other, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(otherAskedFor(other) > other);
        }
        assertEquals(other, otherAskedFor(other));
    }
}
