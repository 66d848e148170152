package io.mintmark.config;

/** How log lines look. */
public enum LogFormat {
    /** One JSON object a line, for machines. */
    JSON,
    /** For a developer's eyes. */
    TEXT
}
