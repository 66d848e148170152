package io.mintmark.exchange;

import io.mintmark.grant.Granted;
import io.mintmark.tenant.IdpName;

import java.util.List;

/**
 * The keys that a subject could mint now.
 *
 * @param keys by name; at least one
 */
public record KeyList(String subject, IdpName idp, List<Granted> keys) {
    public KeyList {
        keys = List.copyOf(keys);
    }
}
