package io.mintmark.broker.exchange;

import io.mintmark.audit.Kind;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;

/**
 * Listens to the use case for metrics. It is called on request threads, and must neither block nor
 * throw.
 */
public interface MintListener {

    /** A token was verified or rejected; includes the time for fetching keys. */
    void tokenExamined(Duration taken);

    /**
     * An access provider was asked for one credential.
     *
     * @param minted whether it gave one
     */
    void providerAnswered(String type, boolean minted, Duration taken);

    /** An access provider gave a credential for much less time than was asked for. */
    void shortLived(TenantName tenant, String type);

    /**
     * A mint that a provider was asked for is over.
     *
     * @param outcome {@code ISSUED}, {@code FAILED} or {@code WITHHELD}
     */
    void ended(TenantName tenant, String type, Kind outcome);

    /** Access was granted by break glass, without an approval. */
    void glassBroken(TenantName tenant);
}
