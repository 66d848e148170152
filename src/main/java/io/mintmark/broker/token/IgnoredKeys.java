package io.mintmark.broker.token;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Logs the keys of an issuer that the broker doesn't use. Each once, though keys are fetched every
 * five minutes. Not thread-safe.
 */
final class IgnoredKeys {
    /** Keys that are remembered as named; an issuer can publish new ones without end. */
    private static final int MOST = 64;

    private static final Logger log = LoggerFactory.getLogger(IgnoredKeys.class);

    private final String issuer;
    private final Set<String> named = new HashSet<>();

    IgnoredKeys(String issuer) {
        this.issuer = issuer;
    }

    /** A set without any usable key is worth a warning; one for encryption beside others isn't. */
    void name(KeySet keys) {
        if (named.size() > MOST) {
            named.clear();
        }
        List<String> fresh = keys.ignored().stream().filter(named::add).toList();
        if (!fresh.isEmpty()) {
            log.atLevel(keys.isEmpty() ? Level.WARN : Level.INFO)
                    .log(
                            "Issuer {} publishes keys that the broker can't use and ignores: {}",
                            issuer,
                            String.join("; ", fresh));
        }
    }
}
