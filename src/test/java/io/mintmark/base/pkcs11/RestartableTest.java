package io.mintmark.base.pkcs11;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RestartableTest {
    private static final long DEVICE_ERROR = 0x30;
    private static final long NOT_INITIALIZED = 0x190;

    /** Refuses to end what isn't started, as PKCS#11 demands (C_Finalize). */
    private static final class Library implements Restartable {
        private boolean isStarted = true;
        private boolean isBroken;

        @Override
        public void initialize() throws CryptokiFailure {
            if (isBroken) {
                throw new CryptokiFailure("C_Initialize", DEVICE_ERROR);
            }
            isStarted = true;
        }

        @Override
        public void terminate() throws CryptokiFailure {
            if (!isStarted) {
                throw new CryptokiFailure("C_Finalize", NOT_INITIALIZED);
            }
            isStarted = false;
        }
    }

    @Test
    void a_library_that_failed_to_start_again_is_started_at_the_next_try() {
        Library library = new Library();
        library.isBroken = true;
        assertThrows(CryptokiFailure.class, library::restart);
        assertThrows(CryptokiFailure.class, library::restart);
        library.isBroken = false;

        assertDoesNotThrow(library::restart);

        assertTrue(library.isStarted);
    }
}
