package io.mintmark.base.outbound;

/**
 * On whose behalf a request is sent to a provider.
 *
 * @param tenant whose connections it uses
 * @param lastCheck runs on a thread of the request's, connected, right before its first byte is
 *     sent; throws {@link NotSent} to prevent that
 */
public record Sender(String tenant, Runnable lastCheck) {}
