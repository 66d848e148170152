package io.mintmark.provider.githubapp;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Access tokens of an installation of a GitHub App. */
public final class GitHubAppType implements CredentialType {
    private static final String HOLDER =
            "The holder can revoke a token: curl -X DELETE -H \"Authorization: Bearer"
                    + " $GITHUB_TOKEN\" https://api.github.com/installation/token";
    private static final String SUSPEND =
            "To end all tokens of the installation, including those of other subjects, suspend it"
                    + " in the organization's settings under GitHub Apps, then unsuspend it.";

    @Override
    public String name() {
        return "github-app";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessToken", "Expiration", "InstallationId", "ApiUrl");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of("GITHUB_TOKEN", "AccessToken", "GITHUB_TOKEN_EXPIRY", "Expiration");
    }

    @Override
    public String earlyEnd() {
        return "The broker keeps no token. " + SUSPEND + " " + HOLDER;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(ActiveCredential::provider, credentials).entrySet().stream()
                .map(each ->
                        ManualRevocation.of(
                                "installation of access provider " + each.getKey(),
                                each.getValue(),
                                HOLDER,
                                SUSPEND))
                .toList();
    }

    /**
     * GitHub's {@code hashed_token} is the base64 form of the credential id ("Identifying audit log
     * events performed by an access token").
     */
    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The audit log of the organization or enterprise: hashed_token is the SHA-256 of"
                        + " the token in base64. Git events are only in exports of that log.",
                mint.credentialId()
                        .flatMap(GitHubAppType::base64)
                        .map(hash ->
                                "gh api --method GET /orgs/ORGANIZATION/audit-log -f phrase="
                                        + shellWord("hashed_token:\"%s\"".formatted(hash))));
    }

    /** Converts a hash to base64; empty if the text isn't a hash, as only a forged row has. */
    private static Optional<String> base64(String hexadecimal) {
        try {
            byte[] hash = HexFormat.of().parseHex(hexadecimal);
            return Optional.of(Base64.getEncoder().encodeToString(hash));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
