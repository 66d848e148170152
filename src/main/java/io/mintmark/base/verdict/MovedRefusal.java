package io.mintmark.base.verdict;

/**
 * The token's tenant moved to another cell: 421 {@code TENANT_MOVED}.
 *
 * @param url where it is now
 */
public record MovedRefusal(String tenant, String url) implements Refusal {}
