package io.mintmark.broker.lease;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.Event.How;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The mints that may have left something behind, which all replicas share. Each method is a
 * transaction of its own, and throws {@link io.mintmark.audit.StoreUnreachable}.
 */
public interface LeaseStore {

    /** Makes mints due that admins requested to end since the last call. */
    void noteRequests();

    /** Makes access providers due for a sweep that were created since the last call. */
    void noteProviders();

    /** The access providers of these types at which a mint is due that no replica has claimed. */
    List<Due> due(Set<String> types);

    /**
     * Claims the mint of an access provider that has been due for longest. Mints that were not
     * tried yet come first.
     *
     * @param lease when another replica may claim it, if this one dies
     */
    Optional<Open> claim(ProviderId provider, Duration lease);

    /** Releases a claim that had no effect. */
    void release(MintId mint);

    /** Releases a claim, so that the mint is tried again after a pause. */
    void postpone(MintId mint, String reason, String detail, Duration pause);

    /** Removes a claimed mint whose end isn't recorded. */
    void forget(MintId mint);

    /**
     * Claims the next sweep of an access provider, if its time has come.
     *
     * @param pause until the one after it
     */
    Optional<AtProvider> claimSweep(ProviderId provider, Duration pause);

    /**
     * Makes mints due that an access provider lists, except those that are to be ended anyway.
     *
     * @param over those whose time is over
     * @param others of which those count whose end is on record
     * @return how many
     */
    long noteLeftBehind(ProviderId provider, Collection<MintId> over, Collection<MintId> others);

    /**
     * An access provider with something to do.
     *
     * @param maxCalls the maximum number of its tenant's concurrent calls
     * @param sweep whether it is to be asked what mints left behind
     */
    record Due(ProviderId provider, int maxCalls, boolean sweep) {}

    /**
     * An access provider as it is now, enabled or not.
     *
     * @param maxCalls the maximum number of its tenant's concurrent calls
     */
    record AtProvider(ProviderId id, String type, JsonNode settings, int maxCalls) {}

    /**
     * A claimed mint.
     *
     * @param key empty where the audit log gets no row of the end
     * @param how its end counts, unless something is left
     * @param callNeeded whether its provider has something left of it
     * @param tries how often it was tried without success
     */
    record Open(
            MintId mint,
            AtProvider provider,
            Optional<KeyName> key,
            Optional<String> credentialId,
            How how,
            boolean callNeeded,
            int tries) {}
}
