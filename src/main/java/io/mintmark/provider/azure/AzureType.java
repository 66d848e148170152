package io.mintmark.provider.azure;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Access tokens of Microsoft Entra ID. */
public final class AzureType implements CredentialType {
    private static final String NONE = "These tokens can't be ended early.";

    @Override
    public String name() {
        return "azure";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessToken", "Expiration", "TenantId");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "AZURE_ACCESS_TOKEN", "AccessToken",
                "AZURE_TOKEN_EXPIRY", "Expiration",
                "AZURE_TENANT_ID", "TenantId");
    }

    /** Entra gives 60 to 90 minutes. */
    @Override
    public boolean choosesLife() {
        return true;
    }

    @Override
    public String earlyEnd() {
        return NONE;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return List.of(ManualRevocation.of("", credentials, NONE));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "Entra's sign-in logs of service principals: search by client id and time, because"
                        + " Entra does not log the mint id.",
                Optional.empty());
    }
}
