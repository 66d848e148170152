package io.mintmark.broker.wiring;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.metrics.TenantExpiries.Expiry;
import io.mintmark.provider.AccessProviders;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Lists the expiries of the certificates in the rows of tenants' access providers. */
public record TenantCertificates(AccessProviders providers, PostgresCatalogue catalogue) {

    /** All of them. Throws {@link io.mintmark.base.verdict.Unavailable} if they can't be read. */
    List<Expiry> expiries() {
        return providers.types().stream()
                .flatMap(type ->
                        catalogue.accessProviders(type).stream()
                                .flatMap(row ->
                                        of(
                                                providers.certificates(type, row.path("settings")),
                                                row)))
                .toList();
    }

    /** When the certificates in a row, in PEM by their settings, expire. */
    public static Stream<Expiry> of(Map<String, String> certificates, JsonNode row) {
        return certificates.entrySet().stream()
                .flatMap(setting ->
                        notAfter(setting.getValue())
                                .map(end ->
                                        new Expiry(
                                                row.path("tenant").asText(),
                                                row.path("name").asText(),
                                                setting.getKey(),
                                                end))
                                .stream());
    }

    /**
     * The expiry of the text's first certificate, which is the provider's own; empty for a text
     * that isn't a certificate.
     */
    private static Optional<Instant> notAfter(String pem) {
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)))
                    .stream()
                    .map(X509Certificate.class::cast)
                    .findFirst()
                    .map(own -> own.getNotAfter().toInstant());
        } catch (CertificateException e) {
            return Optional.empty();
        }
    }
}
