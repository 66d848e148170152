package io.mintmark.audit;

import io.mintmark.audit.Event.Subject;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/** Rows of which only the id and the reason matter. */
final class Rows {
    static final MintIds IDS = new MintIds(InstantSource.system(), new Random());
    private static final String BAD = "bad";

    private Rows() {}

    static Event row(String reason) {
        return row(IDS.next(), Kind.DENIED, reason);
    }

    static Event row(MintId mint, Kind kind, String reason) {
        return new Event(
                mint,
                kind,
                Instant.now(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(reason),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** One that the store refuses. */
    static Event bad() {
        return row(BAD);
    }

    static boolean isBad(Event row) {
        return row.reason().equals(Optional.of(BAD));
    }

    /** One that can't even be put into a row. */
    static Event impossible() {
        return row("impossible");
    }

    static boolean isImpossible(Event row) {
        return row.reason().equals(Optional.of("impossible"));
    }

    /** One that no writer survives. */
    static Event fatal() {
        return row("fatal");
    }

    static boolean isFatal(Event row) {
        return row.reason().equals(Optional.of("fatal"));
    }

    /** An intent of a tenant. */
    static Event intent() {
        return intent("acme");
    }

    static Event intent(String tenant) {
        Subject subject =
                new Subject(
                        Optional.of(new TenantName(tenant)),
                        Optional.empty(),
                        "https://issuer.example.com",
                        Optional.empty(),
                        Optional.empty(),
                        "ab".repeat(32),
                        Optional.empty());
        return new Event(
                IDS.next(),
                Kind.REQUESTED,
                Instant.now(),
                Optional.empty(),
                Optional.of(subject),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }
}
