package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.ResourceUri;

import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The keys that a request asks for, by their names or in the terms of a protocol that doesn't know
 * their names. A request whose decision is made again selects again.
 */
@FunctionalInterface
public interface KeySelection {

    /**
     * Selects keys. A selected key that isn't mintable is denied.
     *
     * @param tenant of the token
     * @param mintable the keys that the subject could mint now, by name
     * @param resources finds the tenant's keys, mintable or not, by the URI of {@code
     *     broker.key.resource}
     * @param format what the protocol can express
     * @return one to ten names, no duplicates
     */
    Verdict<List<KeyName>> from(
            TenantName tenant,
            Collection<Granted> mintable,
            Resources resources,
            CredentialFormat format);

    /** The keys of a tenant by the URI that OAuth 2.0 clients call them (RFC 8707). */
    interface Resources {
        Optional<KeyName> keyOf(ResourceUri resource);
    }

    /**
     * Keys by name.
     *
     * @param names one to ten, no duplicates
     */
    static KeySelection named(List<KeyName> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("a request must name at least one key");
        }
        Verdict<List<KeyName>> selected = Verdict.passed(List.copyOf(names));
        return (_, _, _, _) -> selected;
    }
}
