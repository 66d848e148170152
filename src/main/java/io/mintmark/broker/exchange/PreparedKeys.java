package io.mintmark.broker.exchange;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import io.mintmark.broker.grant.Key;
import io.mintmark.broker.grant.Provider;
import io.mintmark.provider.AccessPoint;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.PreparedKey;

/**
 * Keys' settings as the types of access providers prepare them, once for each row that was read. An
 * entry belongs to that very row object, not to an equal one, and is dropped with it when the
 * tenant is read again.
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

    static AccessPoint access(Provider row) {
        return new AccessPoint(
                row.name(), row.type(), row.settings(), row.allowedTargets(), row.sharedIdentity());
    }
}
