package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.token.ClaimConditions;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Grants for tests, in one place, so that a new condition changes no other. */
public final class Grants {
    private Grants() {}

    /** A grant of a window, without any further condition. */
    public static Grant within(
            long id,
            IdpName idp,
            SubjectPattern subject,
            KeyName key,
            Optional<Instant> from,
            Optional<Instant> until) {
        return new Grant(
                id,
                idp,
                subject,
                key,
                ClaimConditions.NONE,
                Optional.empty(),
                List.of(),
                from,
                until,
                Optional.empty(),
                "");
    }

    /** The same with a duration of its own. */
    static Grant lasting(Duration longest, Grant grant) {
        return new Grant(
                grant.id(),
                grant.idp(),
                grant.subject(),
                grant.key(),
                grant.claims(),
                grant.actor(),
                grant.networks(),
                grant.validFrom(),
                grant.validUntil(),
                Optional.of(longest),
                grant.digest());
    }
}
