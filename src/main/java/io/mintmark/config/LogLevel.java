package io.mintmark.config;

/** The least serious messages that are logged. */
public enum LogLevel {
    ERROR,
    WARNING,
    INFO,
    DEBUG
}
