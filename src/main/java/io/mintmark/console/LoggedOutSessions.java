package io.mintmark.console;

import io.mintmark.broker.token.VerifiedToken;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.TreeMap;

/**
 * Sessions that were ended before their tokens expired. Each is remembered until its token expires,
 * up to a maximum. Beyond it, the session whose token was issued first is forgotten, and every
 * session that is as old or older counts as ended from then on. An ended session is thus never
 * valid again; some users may have to log in again.
 */
final class LoggedOutSessions {
    private final int most;
    private final InstantSource clock;
    private final TreeMap<LoggedOut, Instant> expiries =
            new TreeMap<>(Comparator.comparing(LoggedOut::issuedAt).thenComparing(LoggedOut::hash));

    /** Sessions whose tokens were issued at this time or before it have ended. */
    private Instant endedUpTo = Instant.MIN;

    /** An ended session's token. */
    private record LoggedOut(Instant issuedAt, String hash) {
        static LoggedOut of(VerifiedToken token) {
            return new LoggedOut(token.issuedAt(), HexFormat.of().formatHex(token.hash()));
        }
    }

    /**
     * @param most the number of sessions to remember
     */
    LoggedOutSessions(int most, InstantSource clock) {
        this.most = most;
        this.clock = clock;
    }

    synchronized void add(VerifiedToken token) {
        Instant now = clock.instant();
        expiries.values().removeIf(expiry -> !expiry.isAfter(now));
        expiries.put(LoggedOut.of(token), token.expiresAt());
        while (expiries.size() > most) {
            endedUpTo = expiries.pollFirstEntry().getKey().issuedAt();
        }
    }

    synchronized boolean contains(VerifiedToken token) {
        return !token.issuedAt().isAfter(endedUpTo) || expiries.containsKey(LoggedOut.of(token));
    }
}
