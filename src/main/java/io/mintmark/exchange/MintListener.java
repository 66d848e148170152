package io.mintmark.exchange;

import io.mintmark.audit.Kind;
import io.mintmark.tenant.TenantName;

import java.time.Duration;

/**
 * Told of what the use case does, for its numbers. It is called on the threads of requests, and
 * must neither wait nor throw.
 */
public interface MintListener {

    /** A token was examined, whatever the verdict, the fetching of keys included. */
    void tokenExamined(Duration taken);

    /**
     * An access provider was asked for one credential.
     *
     * @param type of the access provider
     * @param minted whether it gave one
     */
    void providerAnswered(String type, boolean minted, Duration taken);

    /**
     * A mint that a provider was asked for is over.
     *
     * @param outcome {@code ISSUED}, {@code FAILED} or {@code WITHHELD}
     */
    void ended(TenantName tenant, String type, Kind outcome);
}
