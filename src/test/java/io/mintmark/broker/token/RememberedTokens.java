package io.mintmark.broker.token;

import io.mintmark.base.tenant.IdpName;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Used tokens in memory. */
public final class RememberedTokens implements UsedTokens {
    private final Map<String, Instant> used = new ConcurrentHashMap<>();

    @Override
    public boolean use(IdpName idp, String tokenId, Instant until) {
        return used.putIfAbsent(idp + " " + tokenId, until) == null;
    }

    /** Until when each is remembered. */
    public Map<String, Instant> used() {
        return Map.copyOf(used);
    }
}
