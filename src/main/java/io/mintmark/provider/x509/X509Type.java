package io.mintmark.provider.x509;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.tenant.MintId;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** TLS certificates. */
public final class X509Type implements CredentialType {
    private static final String OTHERS =
            "mintmark block-subject --end puts a certificate on the revocation list that servers fetch; a server without the list accepts the certificate until it expires.";

    @Override
    public String name() {
        return "x509";
    }

    @Override
    public Set<String> fields() {
        return Set.of("PrivateKey", "Certificate", "CaCertificate", "Serial", "Uri", "Expiration");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "TLS_PRIVATE_KEY", "PrivateKey",
                "TLS_CERTIFICATE", "Certificate",
                "TLS_CA_CERTIFICATE", "CaCertificate");
    }

    @Override
    public String earlyEnd() {
        return "To end open sessions at PostgreSQL, find them by the certificate's serial number, which is the mint id. "
                + OTHERS;
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(ActiveCredential::provider, credentials).entrySet().stream()
                .map(each ->
                        ManualRevocation.of(
                                "servers that trust the CA of access provider " + each.getKey(),
                                each.getValue(),
                                "On PostgreSQL: SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE client_serial IN (%s);"
                                        .formatted(serials(each.getValue())),
                                OTHERS))
                .toList();
    }

    private static String serials(List<ActiveCredential> credentials) {
        return credentials.stream()
                .map(one -> new MintId(one.mintId()).number().toString())
                .collect(Collectors.joining(", "));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The server's log: the serial number of the certificate is the mint id without its"
                        + " hyphens, and the credential id is the certificate's SHA-256.",
                Optional.empty());
    }
}
