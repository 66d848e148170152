package io.mintmark.provider.sts;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;

import org.jspecify.annotations.Nullable;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Supplier;

/**
 * A provider's copy of the broker's key set, kept for a time.
 *
 * @see #asAws AWS fetches the set once more when a token names a key that isn't in it; others don't
 */
public final class KeptKeySet implements WebIdentityCheck.FarKeys {
    private final Supplier<String> published;
    private final Duration kept;
    private final boolean curious;
    private final InstantSource clock;
    private @Nullable JWKSet copy;
    private Instant fetchedAt = Instant.MIN;

    private KeptKeySet(
            Supplier<String> published, Duration kept, boolean curious, InstantSource clock) {
        this.published = published;
        this.kept = kept;
        this.curious = curious;
        this.clock = clock;
    }

    /** Kept for long, and fetched once more for a key that isn't known. */
    public static KeptKeySet asAws(Supplier<String> published, InstantSource clock) {
        return new KeptKeySet(published, Duration.ofHours(24), true, clock);
    }

    /** Kept for half a day, whatever comes. */
    public static KeptKeySet patient(Supplier<String> published, InstantSource clock) {
        return new KeptKeySet(published, Duration.ofHours(12), false, clock);
    }

    @Override
    public synchronized @Nullable JWK find(String kid) throws ParseException {
        Instant now = clock.instant();
        JWKSet known = copy;
        if (known == null || !now.isBefore(fetchedAt.plus(kept))) {
            known = fetch(now);
        }
        JWK key = known.getKeyByKeyId(kid);
        return key == null && curious ? fetch(now).getKeyByKeyId(kid) : key;
    }

    private JWKSet fetch(Instant now) throws ParseException {
        JWKSet fetched = JWKSet.parse(published.get());
        copy = fetched;
        fetchedAt = now;
        return fetched;
    }
}
