package io.mintmark.broker.http;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.WrongTarget;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.KeySelection;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.ResourceUri;

import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The key that an OAuth 2.0 client means by {@code audience}, its name, or by {@code resource} (RFC
 * 8707), its URI. With both, they must mean the same key.
 *
 * <p>A subject that is granted neither learns nothing about which URI belongs to which key.
 *
 * @param audience present unless {@code resource} is
 */
record TargetKeys(Optional<KeyName> audience, Optional<ResourceUri> resource)
        implements KeySelection {

    @Override
    public Verdict<List<KeyName>> from(
            TenantName tenant,
            Collection<Granted> mintable,
            Resources resources,
            CredentialFormat format) {
        Optional<KeyName> ofResource = resource.flatMap(resources::keyOf);
        if (audience.isEmpty()) {
            return ofResource
                    .map(TargetKeys::one)
                    .orElseGet(() -> Verdict.refused(new WrongTarget(ungranted())));
        }
        KeyName named = audience.get();
        boolean differ = resource.isPresent() && !ofResource.equals(audience);
        boolean mayKnow =
                mintable.stream()
                        .map(granted -> granted.key().name())
                        .anyMatch(key -> key.equals(named) || ofResource.equals(Optional.of(key)));
        return differ && mayKnow
                ? Verdict.refused(
                        new WrongTarget(
                                "The audience and the resource name different keys; send only one"
                                        + " of them."))
                : one(named);
    }

    /** The selection of a request whose path names a tenant, which must be the token's. */
    KeySelection inTenant(String ofPath) {
        return (tenant, mintable, resources, format) ->
                tenant.value().equals(ofPath)
                        ? from(tenant, mintable, resources, format)
                        : Verdict.refused(
                                new BadField(
                                        "tenant",
                                        "The URL names a tenant other than the token's tenant '%s'; use /tenants/%s."
                                                .formatted(tenant, tenant)));
    }

    /**
     * The one message for clients without a grant, so that they can't tell whether the resource has
     * a key.
     */
    String ungranted() {
        return "The subject has no active grant for a key with the resource '%s'; ask an admin for one."
                .formatted(resource.map(ResourceUri::text).orElse(""));
    }

    private static Verdict<List<KeyName>> one(KeyName key) {
        return Verdict.passed(List.of(key));
    }
}
