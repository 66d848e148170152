package io.mintmark.postgres;

/**
 * What the service's connections are doing.
 *
 * @param active in use
 * @param idle open, and not in use
 * @param waiting threads that want one
 */
public record PoolNumbers(int active, int idle, int waiting) {}
