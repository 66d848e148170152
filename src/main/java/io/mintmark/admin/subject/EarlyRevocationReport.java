package io.mintmark.admin.subject;

import io.mintmark.admin.subject.EarlyRevocations.Asked;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.credential.ActiveCredential;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/** Waits for replicas to end credentials, and prints the result of each. */
final class EarlyRevocationReport {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final EarlyRevocations ends;
    private final Duration timeout;
    private final PrintStream out;

    /**
     * @param timeout how long to wait for the replicas
     */
    EarlyRevocationReport(EarlyRevocations ends, Duration timeout, PrintStream out) {
        this.ends = ends;
        this.timeout = timeout;
        this.out = out;
    }

    /** Prints the result for each of these credentials. Returns the mints that have ended. */
    Set<UUID> report(Asked asked, List<ActiveCredential> living) {
        listed(living.stream().filter(one -> asked.listed().contains(one.mintId())).toList());
        List<ActiveCredential> these =
                living.stream().filter(one -> asked.asked().contains(one.mintId())).toList();
        if (these.isEmpty()) {
            noneEnds(asked, living);
            return Set.of();
        }
        Map<UUID, Instant> ended = awaited(asked.asked());
        Map<UUID, String> why = new HashMap<>(ends.whyNot(asked.asked()));
        out.printf("%nEnded at their providers, %d of %d:%n", ended.size(), these.size());
        for (ActiveCredential one : these) {
            Instant at = ended.get(one.mintId());
            out.printf(
                    "  %s %s %s%n",
                    one.type(),
                    one.mintId(),
                    at == null
                            ? "not yet: "
                                    + VisibleText.of(why.getOrDefault(one.mintId(), "unknown"))
                            : "ended " + TIME.format(at));
        }
        if (ended.size() < these.size()) {
            out.println(
                    "The other credentials might still be valid. Replicas keep retrying, and"
                            + " audit.unended lists these credentials. To end them by hand:");
        }
        return ended.keySet();
    }

    private void noneEnds(Asked asked, List<ActiveCredential> living) {
        if (asked.listed().isEmpty() && !living.isEmpty()) {
            out.printf(
                    "%nThe broker can't end credentials of these types early. To end them by"
                            + " hand:%n");
        }
    }

    /**
     * Reports the credentials that revocation lists contain now. Those that were issued between the
     * two statements are not among them.
     */
    private void listed(List<ActiveCredential> these) {
        if (!these.isEmpty()) {
            out.printf(
                    "%nRevoked: %d certificates. The revocation list has them within a minute,"
                            + " and servers that fetch the list reject them. Open sessions"
                            + " continue.%n",
                    these.size());
            these.forEach(one -> out.printf("  %s %s%n", one.type(), one.mintId()));
        }
    }

    private Map<UUID, Instant> awaited(Set<UUID> mints) {
        long end = System.nanoTime() + timeout.toNanos();
        Map<UUID, Instant> ended = ends.ended(mints);
        while (ended.size() < mints.size() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(PAUSE.toNanos());
            ended = ends.ended(mints);
        }
        return ended;
    }
}
