package io.mintmark.provider.ssh;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** OpenSSH user certificates. */
public final class SshType implements CredentialType {
    private static final String SESSIONS =
            "Open sessions continue: find them in sshd's log by the key id, and end them on the host.";

    @Override
    public String name() {
        return "ssh";
    }

    @Override
    public Set<String> fields() {
        return Set.of(
                "PrivateKey",
                "PublicKey",
                "Certificate",
                "KeyId",
                "Serial",
                "Principals",
                "KnownHosts",
                "Expiration");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "SSH_PRIVATE_KEY", "PrivateKey",
                "SSH_CERTIFICATE", "Certificate",
                "SSH_KNOWN_HOSTS", "KnownHosts");
    }

    @Override
    public String earlyEnd() {
        return "mintmark block-subject --end puts a certificate on the revocation list that servers"
                + " fetch. "
                + SESSIONS;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(ActiveCredential::provider, credentials).entrySet().stream()
                .map(each ->
                        ManualRevocation.of(
                                "servers that trust the CA of access provider " + each.getKey(),
                                each.getValue(),
                                Stream.of(
                                                Stream.of(
                                                        list(each.getValue()),
                                                        "Without that list: add these lines to"
                                                                + " revoked.txt, then run"
                                                                + " ssh-keygen -k -u -f"
                                                                + " /etc/ssh/revoked -s ca.pub"
                                                                + " revoked.txt on each server:"),
                                                each.getValue().stream().map(SshType::revocation),
                                                Stream.of(SESSIONS))
                                        .flatMap(lines -> lines)
                                        .toArray(String[]::new)))
                .toList();
    }

    private static String list(List<ActiveCredential> credentials) {
        return "Run this command again with --end. Servers that fetch the revocation list at %s then refuse these certificates."
                .formatted(
                        credentials.stream()
                                .map(one -> "/ssh/%s/krl".formatted(one.tenant()))
                                .distinct()
                                .collect(Collectors.joining(" and ")));
    }

    private static String revocation(ActiveCredential one) {
        return "id: mintmark:%s/%s:%s".formatted(one.tenant(), one.key(), one.mintId());
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "sshd's log on the server: the key id ends in the mint id, and the credential id is"
                        + " the fingerprint of the key.",
                mint.credentialId().map(id -> "journalctl -u ssh --grep " + shellWord(id)));
    }
}
