package io.mintmark.provider.jwt;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Access tokens of the broker's own. */
public final class JwtType implements CredentialType {

    @Override
    public String name() {
        return "jwt";
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
        return "Only the service can reject a token early, by its jti, which is the mint id.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return List.of(
                ManualRevocation.of(
                        "",
                        credentials,
                        "Services accept these tokens until they expire. A service that checks jti"
                                + " can reject: "
                                + credentials.stream()
                                        .map(one -> one.mintId().toString())
                                        .collect(Collectors.joining(", "))));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The service's own log: the jti of the token is the mint id, and the credential id"
                        + " is the SHA-256 of the token.",
                Optional.empty());
    }
}
