package io.mintmark.base.tenant;

import java.math.BigInteger;
import java.util.UUID;

/**
 * The id of one mint: a UUIDv7 (RFC 9562 section 5.7), so that ids sort by time. It is in the audit
 * log and, where possible, in the provider's own log.
 */
public record MintId(UUID value) {
    public MintId {
        if (value.version() != 7) {
            throw new IllegalArgumentException("mint id '%s' is not a UUIDv7".formatted(value));
        }
    }

    /** The time at which the id was made, in Unix milliseconds. */
    public long millis() {
        return value.getMostSignificantBits() >>> Short.SIZE;
    }

    /** The id as a number, as serial numbers of certificates are written. */
    public BigInteger number() {
        return new BigInteger(value.toString().replace("-", ""), 16);
    }

    @Override
    public String toString() {
        return value.toString();
    }
}
