package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

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
    public List<IdentityProvider> trusting(String issuer, Set<String> audiences) {
        return audiences.stream()
                .flatMap(audience -> all.stream().filter(p -> p.audiences().contains(audience)))
                .filter(provider -> provider.issuer().equals(issuer))
                .distinct()
                .toList();
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return shown().filter(provider -> provider.issuer().equals(issuer)).toList();
    }

    @Override
    public List<String> listedIssuers() {
        return shown().map(IdentityProvider::issuer).distinct().sorted().toList();
    }

    @Override
    public List<Listed> listed() {
        return shown().map(p -> new Listed(p.name(), p.issuer())).toList();
    }

    @Override
    public List<Login> logins(TenantName tenant) {
        return List.of();
    }

    @Override
    public List<Login> logins() {
        return List.of();
    }

    @Override
    public Optional<String> tokenIssuer(TenantName tenant) {
        return Optional.empty();
    }

    private Stream<IdentityProvider> shown() {
        return all.stream().filter(IdentityProvider::listed);
    }
}
