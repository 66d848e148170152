package io.mintmark.exchange;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import io.mintmark.grant.Key;
import io.mintmark.grant.Provider;
import io.mintmark.mint.AccessPoint;
import io.mintmark.mint.AccessProviders;
import io.mintmark.mint.PreparedKey;

/**
 * What the types of access providers make of keys' settings: once for each row that was read,
 * however often it is minted. It belongs to that very row, whatever others are equal to it, and is
 * forgotten with it when the tenant is read anew.
 */
final class PreparedKeys {
    private final LoadingCache<Key, PreparedKey> byRow;

    PreparedKeys(AccessProviders providers) {
        this.byRow =
                Caffeine.newBuilder()
                        .weakKeys()
                        .executor(Runnable::run)
                        .build(key -> providers.prepare(access(key.provider()), key.settings()));
    }

    PreparedKey of(Key row) {
        return byRow.get(row);
    }

    /** Of how many rows something is kept. */
    long kept() {
        byRow.cleanUp();
        return byRow.estimatedSize();
    }

    private static AccessPoint access(Provider row) {
        return new AccessPoint(
                row.name(), row.type(), row.settings(), row.allowedTargets(), row.sharedIdentity());
    }
}
