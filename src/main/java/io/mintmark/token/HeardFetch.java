package io.mintmark.token;

import io.mintmark.tenant.TenantName;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Predicate;

/** Reports the result of every fetch over the network. */
final class HeardFetch implements KeyFetch {
    private final KeyFetch fetch;
    private final KeySetListener listener;

    HeardFetch(KeyFetch fetch, KeySetListener listener) {
        this.fetch = fetch;
        this.listener = listener;
    }

    @Override
    public KeySet fetch(KeySource source, TenantName owner, Predicate<KeySet> enough)
            throws IOException {
        return source.jwks().isPresent()
                ? fetch.fetch(source, owner, enough)
                : heard(source, owner, enough);
    }

    private KeySet heard(KeySource source, TenantName owner, Predicate<KeySet> enough)
            throws IOException {
        long began = System.nanoTime();
        boolean succeeded = false;
        try {
            KeySet keys = fetch.fetch(source, owner, enough);
            succeeded = true;
            return keys;
        } finally {
            listener.fetched(succeeded, Duration.ofNanos(System.nanoTime() - began));
        }
    }
}
