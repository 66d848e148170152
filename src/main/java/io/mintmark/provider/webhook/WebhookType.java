package io.mintmark.provider.webhook;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Credentials of a tenant's own service. Each access provider lists the fields of its credentials,
 * which are their default outputs, each by its own name.
 */
public final class WebhookType implements CredentialType {
    /** The field with the credential's expiry, in addition to the listed fields. */
    static final String EXPIRATION = "Expiration";

    private static final String SERVICE =
            "The broker can have the service behind the webhook end a credential: run mintmark block-subject with --end, or insert the credential's mint id into broker.ended_credential.";

    @Override
    public String name() {
        return "webhook";
    }

    @Override
    public Set<String> fields() {
        return Set.of(EXPIRATION);
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of();
    }

    @Override
    public String earlyEnd() {
        return SERVICE;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(ActiveCredential::provider, credentials).entrySet().stream()
                .map(each ->
                        ManualRevocation.of(
                                "service of access provider " + each.getKey(),
                                each.getValue(),
                                SERVICE,
                                "If the broker can't reach the service, its operator ends these"
                                        + " mint ids: "
                                        + each.getValue().stream()
                                                .map(one -> one.mintId().toString())
                                                .collect(Collectors.joining(", "))))
                .toList();
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The service's own log: the last segment of a request's path is the mint id.",
                Optional.empty());
    }
}
