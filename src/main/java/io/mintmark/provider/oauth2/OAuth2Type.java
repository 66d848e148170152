package io.mintmark.provider.oauth2;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Access tokens of any authorization server. */
public final class OAuth2Type implements CredentialType {
    private static final String UNKNOWN =
            "The broker keeps no token that it could revoke. The authorization server may have a way to revoke tokens.";

    @Override
    public String name() {
        return "oauth2";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessToken", "Expiration");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of("ACCESS_TOKEN", "AccessToken", "TOKEN_EXPIRY", "Expiration");
    }

    @Override
    public String earlyEnd() {
        return UNKNOWN;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return List.of(ManualRevocation.of("", credentials, UNKNOWN));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The authorization server's log: the jti of the broker's token is the mint id, and the credential id is the SHA-256 of the token that the server issued.",
                Optional.empty());
    }
}
