package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.logging.Level;
import java.util.logging.Logger;

class LogBookTest {
    @Test
    void reads_every_level_whatever_an_earlier_test_has_configured() {
        Logger ours = Logger.getLogger(LogBook.OURS);
        Level before = ours.getLevel();
        try {
            ours.setLevel(Level.SEVERE);
            try (LogBook book = LogBook.open()) {
                Logger.getLogger(LogBook.OURS + ".broker").fine("a detail");
                assertEquals(1, book.linesWith("a detail").size());
            }
            assertEquals(Level.SEVERE, ours.getLevel());
        } finally {
            ours.setLevel(before);
        }
    }
}
