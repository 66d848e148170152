package io.mintmark.provider.gcp;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Access tokens of Google Cloud. */
public final class GoogleCloudType implements CredentialType {
    private static final Duration USUAL_LIFETIME = Duration.ofHours(1);
    private static final Duration CLOCK_DIFFERENCE = Duration.ofMinutes(1);

    @Override
    public String name() {
        return "gcp";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessToken", "Expiration", "ProjectId");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "GOOGLE_OAUTH_ACCESS_TOKEN", "AccessToken",
                "GOOGLE_TOKEN_EXPIRY", "Expiration",
                "GOOGLE_PROJECT_ID", "ProjectId");
    }

    @Override
    public String earlyEnd() {
        return "Disable the key's service account, which ends all other tokens of the account too."
                + " A token without a service account cannot be ended.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(one -> one.target().orElse(""), credentials).entrySet().stream()
                .map(account -> ofAccount(account.getKey(), account.getValue()))
                .toList();
    }

    private static ManualRevocation ofAccount(String account, List<ActiveCredential> credentials) {
        return account.isEmpty()
                ? ManualRevocation.of(
                        "without a service account",
                        credentials,
                        "These tokens can't be ended early.")
                : ManualRevocation.of(
                        account,
                        credentials,
                        "Disabling the service account ends these tokens and all its other tokens. Tokens that have not expired work again when the service account is enabled.",
                        "gcloud iam service-accounts disable " + shellWord(account));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "Cloud Audit Logs: the reason of GenerateAccessToken is the mint id; later calls"
                        + " name the tenant and the key as their subject.",
                Optional.of(
                        "gcloud logging read %s --format json".formatted(shellWord(filter(mint)))));
    }

    private static String filter(LoggedMint mint) {
        Instant from = mint.at().truncatedTo(ChronoUnit.SECONDS).minus(CLOCK_DIFFERENCE);
        Instant to =
                mint.expiresAt()
                        .orElse(mint.at().plus(USUAL_LIFETIME))
                        .truncatedTo(ChronoUnit.SECONDS);
        return "protoPayload.authenticationInfo.principalSubject:\"/subject/tenant:%s:key:%s\" AND timestamp>=\"%s\" AND timestamp<=\"%s\""
                .formatted(mint.tenant(), mint.key(), from, to);
    }
}
