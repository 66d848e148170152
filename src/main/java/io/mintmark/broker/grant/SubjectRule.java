package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;

import java.util.Optional;

/** A grant or a block: a rule for the subjects that it matches. */
interface SubjectRule {

    /** The identity provider of the subjects; empty for any of the tenant's. */
    Optional<IdpName> from();

    /** The subjects to which the rule applies. */
    SubjectPattern subject();
}
