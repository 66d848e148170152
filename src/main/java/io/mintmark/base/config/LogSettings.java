package io.mintmark.base.config;

import java.util.List;

/** How much is logged, and in which form. */
public record LogSettings(LogFormat format, LogLevel level) {
    /** How log lines look. */
    public enum LogFormat {
        /** One JSON object a line, for machines. */
        JSON,
        /** For a developer's eyes. */
        TEXT
    }

    /** The least serious messages that are logged. */
    public enum LogLevel {
        ERROR,
        WARNING,
        INFO,
        DEBUG
    }

    public static final LogSettings DEFAULT = new LogSettings(LogFormat.JSON, LogLevel.INFO);

    static final Setting<LogFormat> FORMAT =
            Setting.of(
                    "log.format",
                    Formats.oneOf(LogFormat.class),
                    "json",
                    "`json`, one object a line, or `text`.");
    static final Setting<LogLevel> LEVEL =
            Setting.of(
                    "log.level",
                    Formats.oneOf(LogLevel.class),
                    "info",
                    "Lowest level that is logged.");

    static final List<Setting<?>> TABLE = List.of(FORMAT, LEVEL);

    static LogSettings from(Values values) {
        return new LogSettings(values.get(FORMAT), values.get(LEVEL));
    }
}
