package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;

import java.io.IOException;
import java.util.function.Predicate;

/** Reads the keys of a source from where they are published, without a cache. */
interface KeyFetch {

    /**
     * The keys that the source gives now.
     *
     * @param owner the tenant in whose share of outbound calls this is done
     * @param enough whether these keys, of the issuer's default address, are enough; if not, those
     *     that the discovery document names are fetched too. Not asked for a source in one place.
     * @throws IOException if it gives none; the message is for the log
     */
    KeySet fetch(KeySource source, TenantName owner, Predicate<KeySet> enough) throws IOException;
}
