package io.mintmark.base.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The certificate that a port shows to its clients.
 *
 * @param setting the name of the setting that names the certificate's file
 * @param certificate PEM: the port's own certificate first, then those of its issuers
 * @param key the private key of the first certificate, PEM
 */
public record TlsFiles(String setting, Path certificate, Path key) {

    /**
     * The two settings of one port.
     *
     * @param certificate names the file of the certificates
     * @param key names the file of the private key
     */
    record Pair(Setting<Path> certificate, Setting<Path> key) {
        /**
         * The settings of a port.
         *
         * @param section of the configuration file, such as {@code server}
         * @param port as a sentence names it
         */
        static Pair of(String section, String port) {
            Setting<Path> certificate =
                    Setting.of(
                            section + ".tls-certificate-file",
                            Formats.FILE.hint(", with certificates in PEM"),
                            "File with the TLS certificate of %s, followed by its intermediate certificates, in PEM. If not set, the port uses plain HTTP."
                                    .formatted(port));
            return new Pair(
                    certificate,
                    Setting.of(
                            section + ".tls-key-file",
                            Formats.FILE.hint(", with a private key in PEM"),
                            "File with the private key of `%s`, in PEM."
                                    .formatted(certificate.name())));
        }

        List<Setting<?>> settings() {
            return List.of(certificate, key);
        }

        /**
         * The files, if they are set.
         *
         * @throws InvalidSettings if only one of the two is
         */
        Optional<TlsFiles> from(Values values) {
            Optional<Path> chain = values.find(certificate);
            Optional<Path> secret = values.find(key);
            if (chain.isPresent() != secret.isPresent()) {
                Setting<Path> present = chain.isPresent() ? certificate : key;
                Setting<Path> missing = chain.isPresent() ? key : certificate;
                throw new InvalidSettings(
                        "%s is set without %s: set both, or neither for plain HTTP"
                                .formatted(present.name(), missing.name()));
            }
            return chain.flatMap(
                    file -> secret.map(own -> new TlsFiles(certificate.name(), file, own)));
        }
    }
}
