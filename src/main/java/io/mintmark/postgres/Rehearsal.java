package io.mintmark.postgres;

import io.mintmark.audit.Caller;
import io.mintmark.audit.CredentialNote;
import io.mintmark.audit.Event;
import io.mintmark.audit.Holder;
import io.mintmark.audit.MintTrail;
import io.mintmark.audit.Warrant;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintId;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.TenantName;

import java.net.InetAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Both rows of a mint that never was, to find out whether such rows would be taken. */
final class Rehearsal {
    private static final String NAME = "rehearsal";
    private static final String NO_HASH = "00".repeat(32);

    private Rehearsal() {}

    static List<Event> of(MintId mint, Instant now) {
        MintTrail trail =
                new MintTrail(
                        mint,
                        new Caller(NAME, InetAddress.getLoopbackAddress(), Optional.empty()),
                        new Holder(
                                Optional.of(new TenantName(NAME)),
                                Optional.of(new IdpName(NAME)),
                                NAME,
                                Optional.of(NAME),
                                Optional.empty(),
                                NO_HASH,
                                Optional.empty()),
                        new KeyName(NAME),
                        Optional.of(new Warrant(new ProviderName(NAME), NAME, 0, 0)));
        return List.of(
                trail.requested(now, now),
                trail.issued(now, new CredentialNote(Optional.of(NO_HASH), Optional.of(now), now)));
    }
}
