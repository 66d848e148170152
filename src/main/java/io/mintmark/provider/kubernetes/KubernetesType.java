package io.mintmark.provider.kubernetes;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Tokens of Kubernetes service accounts. */
public final class KubernetesType implements CredentialType {
    private static final String BOUND =
            "If the key has bound_secret, delete that Secret: all tokens of the key end within"
                    + " about 10 seconds, and creating it again does not revive them.";

    @Override
    public String name() {
        return "kubernetes";
    }

    @Override
    public Set<String> fields() {
        return Set.of("Token", "Server", "CaCertificate", "Namespace", "Expiration", "Kubeconfig");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "KUBE_TOKEN", "Token",
                "KUBE_SERVER", "Server",
                "KUBE_NAMESPACE", "Namespace",
                "KUBE_TOKEN_EXPIRY", "Expiration");
    }

    @Override
    public String earlyEnd() {
        return BOUND
                + " Otherwise, remove the RoleBindings of the service account, so that all its tokens lose their rights.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(one -> one.target().orElse(""), credentials).entrySet().stream()
                .map(account ->
                        ManualRevocation.of(
                                "service account " + account.getKey(),
                                account.getValue(),
                                BOUND,
                                "Otherwise, find the RoleBindings of the service account, and"
                                        + " remove them: kubectl get rolebindings,clusterrolebindings"
                                        + " -A -o wide"))
                .toList();
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The API server's audit log: user.extra"
                        + " \"authentication.kubernetes.io/credential-id\" of each request with the"
                        + " token is the credential id.",
                mint.credentialId().map(id -> "grep -F " + shellWord(id) + " audit.log"));
    }
}
