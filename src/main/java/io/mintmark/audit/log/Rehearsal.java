package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.net.InetAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The two rows of a mint that doesn't exist, to find out whether the store accepts such rows. */
final class Rehearsal {
    private static final String NAME = "rehearsal";
    private static final String NO_HASH = "00".repeat(32);

    private Rehearsal() {}

    static List<Event> of(MintId mint, Instant now) {
        MintEvents events =
                new MintEvents(
                        mint,
                        new Caller(NAME, InetAddress.getLoopbackAddress(), Optional.empty()),
                        new Subject(
                                Optional.of(new TenantName(NAME)),
                                Optional.of(new IdpName(NAME)),
                                NAME,
                                Optional.of(NAME),
                                Optional.empty(),
                                NO_HASH,
                                Optional.empty()),
                        new KeyName(NAME),
                        Optional.of(
                                new GrantReference(
                                        new ProviderName(NAME), NAME, 0, 0, 0, NO_HASH)));
        return List.of(
                events.requested(now, now),
                events.issued(now, new Credential(Optional.of(NO_HASH), Optional.of(now), now)));
    }
}
