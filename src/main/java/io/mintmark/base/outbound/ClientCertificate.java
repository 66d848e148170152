package io.mintmark.base.outbound;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * A certificate that the broker presents to a service.
 *
 * @param chain it, then those of its issuers; not empty
 */
public record ClientCertificate(PrivateKey key, List<X509Certificate> chain) {

    public ClientCertificate {
        chain = List.copyOf(chain);
    }

    /** Shows the certificate's subject, and nothing of the key. */
    @Override
    public String toString() {
        return "ClientCertificate[%s]".formatted(chain.getFirst().getSubjectX500Principal());
    }
}
