package io.mintmark.base.logging;

import io.mintmark.base.config.LogSettings.LogLevel;

import java.util.logging.Level;

/** Our words for the levels of {@code java.util.logging}. */
final class LogLevels {
    private LogLevels() {}

    static Level of(LogLevel level) {
        return switch (level) {
            case ERROR -> Level.SEVERE;
            case WARNING -> Level.WARNING;
            case INFO -> Level.INFO;
            case DEBUG -> Level.FINE;
        };
    }

    /** The word for a level, or for the one below it that has a word. */
    static String word(Level level) {
        int value = level.intValue();
        if (value >= Level.SEVERE.intValue()) {
            return "error";
        }
        if (value >= Level.WARNING.intValue()) {
            return "warning";
        }
        return value >= Level.INFO.intValue() ? "info" : "debug";
    }
}
