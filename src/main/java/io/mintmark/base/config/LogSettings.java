package io.mintmark.base.config;

import java.util.List;

/** The level and the format of the log. */
public record LogSettings(LogFormat format, LogLevel level) {
    /** The format of log lines. */
    public enum LogFormat {
        /** One JSON object a line, for machines. */
        JSON,
        /** Text that developers can read. */
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
                    "Format of the log: `json` (one JSON object on each line) or `text`.");
    static final Setting<LogLevel> LEVEL =
            Setting.of(
                    "log.level",
                    Formats.oneOf(LogLevel.class),
                    "info",
                    "Lowest level that is logged: `error`, `warning`, `info` or `debug`.");

    static final List<Setting<?>> TABLE = List.of(FORMAT, LEVEL);

    static LogSettings from(Values values) {
        return new LogSettings(values.get(FORMAT), values.get(LEVEL));
    }
}
