package io.mintmark.provider.gcp;

import java.time.Instant;
import java.util.Set;

/**
 * A token that the {@link GoogleStandIn} gave out.
 *
 * @param holder a federated subject, or a service account's address
 * @param bounded whether an access boundary was put on it
 */
record GoogleIssued(
        String holder, boolean federated, Set<String> scopes, Instant expiry, boolean bounded) {}
