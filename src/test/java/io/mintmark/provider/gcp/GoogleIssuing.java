package io.mintmark.provider.gcp;

import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The tokens that are out. They look like Google's. */
final class GoogleIssuing {
    private final Map<String, GoogleIssued> tokens = new ConcurrentHashMap<>();
    private final InstantSource clock;

    GoogleIssuing(InstantSource clock) {
        this.clock = clock;
    }

    String issue(GoogleIssued token) {
        synchronized (tokens) {
            String text = "ya29.c.stand-in_" + (tokens.size() + 1);
            tokens.put(text, token);
            return text;
        }
    }

    /** What a token stands for, if it is one and hasn't expired. */
    Optional<GoogleIssued> living(String text) {
        return Optional.ofNullable(tokens.get(text))
                .filter(token -> token.expiry().isAfter(clock.instant()));
    }
}
