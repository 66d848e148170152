package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.config.InvalidSettings;

import org.junit.jupiter.api.Test;

class OpenFilesTest {
    @Test
    void a_limit_that_leaves_too_little_room_stops_the_start() {
        InvalidSettings refusal =
                assertThrows(InvalidSettings.class, () -> OpenFiles.requireEnough(2000, 1024));

        assertEquals(
                "SERVER_MAX_CONNECTIONS needs 2256 open files, but the process may open only 1024: lower the setting, or raise the limit (ulimit -n)",
                refusal.getMessage());
    }

    @Test
    void a_limit_that_is_just_enough_is_enough() {
        assertDoesNotThrow(() -> OpenFiles.requireEnough(768, 1024));
    }
}
