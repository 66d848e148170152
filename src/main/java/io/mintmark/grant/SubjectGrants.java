package io.mintmark.grant;

import java.util.List;

/**
 * The enabled grants of one exact subject of one identity provider.
 *
 * @param revision the tenant's, at which they were read
 */
public record SubjectGrants(long revision, List<Grant> grants) {
    public SubjectGrants {
        grants = List.copyOf(grants);
    }
}
