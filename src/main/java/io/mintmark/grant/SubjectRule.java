package io.mintmark.grant;

import io.mintmark.tenant.IdpName;

import java.util.Optional;

/** What is said about subjects: that they are granted something, or blocked. */
interface SubjectRule {

    /** The identity provider whose subjects are meant; empty for any of the tenant's. */
    Optional<IdpName> from();

    /** Which subjects. */
    SubjectPattern subject();
}
