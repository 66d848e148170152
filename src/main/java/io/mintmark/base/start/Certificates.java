package io.mintmark.base.start;

import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.http.tls.UnusableCertificate;

import java.util.Optional;

/**
 * The TLS of the broker's two ports; a port without it serves plain HTTP.
 *
 * @param server that of the public port
 */
public record Certificates(Optional<PortTls> server, Optional<PortTls> admin) {

    /**
     * Reads the files.
     *
     * @throws StartFailed if a certificate and its key can't be used
     */
    public static Certificates of(ServiceSettings settings) {
        return new Certificates(
                settings.server().tls().map(Certificates::read),
                settings.admin().tls().map(Certificates::read));
    }

    /** The same for one port. */
    public static PortTls read(TlsFiles files) {
        try {
            return PortTls.of(files);
        } catch (UnusableCertificate e) {
            throw new StartFailed(
                    "%s and %s: %s"
                            .formatted(
                                    files.setting(),
                                    files.setting().replace("CERTIFICATE", "KEY"),
                                    e.getMessage()));
        }
    }
}
