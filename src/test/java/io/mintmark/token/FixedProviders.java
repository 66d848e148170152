package io.mintmark.token;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Identity providers that never change. */
public record FixedProviders(List<IdentityProvider> all) implements IdentityProviders {
    public FixedProviders {
        all = all.stream().sorted(Comparator.comparing(p -> p.name().value())).toList();
    }

    @Override
    public boolean knows(String issuer) {
        return all.stream().anyMatch(provider -> provider.issuer().equals(issuer));
    }

    @Override
    public List<IdentityProvider> trusting(String issuer, Collection<String> audiences) {
        return audiences.stream()
                .flatMap(audience -> all.stream().filter(p -> p.audiences().contains(audience)))
                .filter(provider -> provider.issuer().equals(issuer))
                .distinct()
                .toList();
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return listed().stream().filter(provider -> provider.issuer().equals(issuer)).toList();
    }

    @Override
    public List<IdentityProvider> listed() {
        return all.stream().filter(IdentityProvider::listed).toList();
    }
}
