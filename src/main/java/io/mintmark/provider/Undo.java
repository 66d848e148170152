package io.mintmark.provider;

import java.time.Instant;
import java.util.Optional;

/**
 * Ends a credential that was obtained and is not handed out, while its secret is in memory. For
 * types without {@link LeaseRevoker}, which does the same, and also after the broker died.
 */
@FunctionalInterface
public interface Undo {
    /**
     * Asks the provider to end the credential. Blocks until the deadline at the latest, and may be
     * called again.
     *
     * @return why the credential may still work, free of secrets; empty if it has ended
     */
    Optional<String> undo(Instant deadline);
}
