package io.mintmark.base.start;

import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.config.ConsoleSettings;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.http.tls.UnusableCertificate;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The TLS of a process's two ports; a port without it serves plain HTTP.
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

    /** The certificates of the console, whose second port need not exist. */
    public static Certificates of(ConsoleSettings settings) {
        return new Certificates(
                settings.tls().map(Certificates::read),
                settings.admin().flatMap(AdminSettings::tls).map(Certificates::read));
    }

    /** The certificates of all ports that have one. */
    public List<PortTls> all() {
        return Stream.of(server, admin).flatMap(Optional::stream).toList();
    }

    /** The TLS of one port. */
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
