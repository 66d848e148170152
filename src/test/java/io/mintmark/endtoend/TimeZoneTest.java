package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;

/** A JVM whose time zone PostgreSQL doesn't know: {@code CTT} is a name of Java's alone. */
@Tag("heavy")
class TimeZoneTest {
    @TempDir private Path directory;

    @Test
    void sessions_are_utc_whatever_the_time_zone_of_the_jvm() {
        try (TestDatabase database = TestDatabase.migrated()) {
            int port = RunningBroker.freePort();
            BrokerProcess broker =
                    new BrokerProcess(
                            List.of("-Duser.timezone=CTT", "io.mintmark.Main"),
                            RunningBroker.environment(database, port),
                            directory);
            try {
                Eventually.holds(
                        BrokerProcess.START,
                        () -> isListening(port) || broker.log().contains("TimeZone"));
                assertFalse(broker.log().contains("TimeZone"), broker::log);
            } finally {
                broker.kill();
            }
        }
    }

    private static boolean isListening(int port) {
        try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
