package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.exchange.Intent.Order;
import io.mintmark.broker.grant.Granted;
import io.mintmark.provider.MintResult.Minted;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Credentials that live shorter than was asked for. Each is noted in its row of the audit log, by
 * which {@code broker.lint} finds the key, and counted. One that is too short to be of use is
 * logged, once for its key.
 */
final class ShortLives {
    private static final Logger log = LoggerFactory.getLogger(ShortLives.class);

    /** The maximum part of a lifetime that clock differences and transport take. */
    private static final Duration TOLERANCE = Duration.ofSeconds(60);

    private static final int TENTH = 10;

    /** The number of keys for which the broker remembers that it logged them. */
    private static final int MOST = 10_000;

    private final MintListener listener;
    private final Set<TenantKey> logged = ConcurrentHashMap.newKeySet();

    private record TenantKey(TenantName tenant, KeyName key) {}

    ShortLives(MintListener listener) {
        this.listener = listener;
    }

    /**
     * Notes a credential that is shorter than ordered.
     *
     * @param received when it came
     */
    Minted noted(TenantName tenant, Order order, Minted minted, Instant received) {
        Granted granted = order.granted();
        Duration asked = granted.duration();
        Duration life = Duration.between(received, minted.expiresAt());
        TenantKey key = new TenantKey(tenant, granted.key().name());
        if (life.plus(tolerance(asked)).compareTo(asked) >= 0) {
            logged.remove(key);
            return minted;
        }
        listener.shortLived(tenant, granted.key().provider().type());
        String note =
                "the credential is valid for %d s, although %d s were requested"
                        .formatted(life.toSeconds(), asked.toSeconds());
        boolean useless =
                life.compareTo(granted.atLeast()) < 0
                        || life.multipliedBy(TENTH).compareTo(asked) < 0;
        if (useless && logged.size() < MOST && logged.add(key)) {
            log.warn(
                    "Access provider '{}' issues credentials of key '{}' of tenant '{}' for a shorter time than requested: {}. Lower max_duration of the key, or raise the limit at the provider",
                    granted.key().provider().name(),
                    key.key(),
                    tenant,
                    note);
        }
        return minted.noted(minted.note().map(first -> first + "; " + note).orElse(note));
    }

    private static Duration tolerance(Duration asked) {
        Duration tenth = asked.dividedBy(TENTH);
        return tenth.compareTo(TOLERANCE) < 0 ? tenth : TOLERANCE;
    }
}
