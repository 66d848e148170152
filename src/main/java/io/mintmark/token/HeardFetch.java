package io.mintmark.token;

import java.io.IOException;
import java.time.Duration;

/** Tells of every fetch over the network what became of it. */
final class HeardFetch implements KeyFetch {
    private final KeyFetch fetch;
    private final KeySetListener listener;

    HeardFetch(KeyFetch fetch, KeySetListener listener) {
        this.fetch = fetch;
        this.listener = listener;
    }

    @Override
    public KeySet fetch(KeySource source) throws IOException {
        return source.jwks().isPresent() ? fetch.fetch(source) : heard(source);
    }

    private KeySet heard(KeySource source) throws IOException {
        long began = System.nanoTime();
        boolean succeeded = false;
        try {
            KeySet keys = fetch.fetch(source);
            succeeded = true;
            return keys;
        } finally {
            listener.fetched(succeeded, Duration.ofNanos(System.nanoTime() - began));
        }
    }
}
