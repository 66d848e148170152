package io.mintmark.base.http.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.outbound.Authority;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.PemFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;

class PortTlsTest {
    @TempDir Path directory;

    private final Authority authority = new Authority();
    private Path certificate;
    private Path key;

    @BeforeEach
    void write() throws Exception {
        certificate = directory.resolve("tls.crt");
        key = directory.resolve("tls.key");
        authority.write("localhost", certificate, key);
    }

    @Test
    void a_key_of_another_certificate_is_refused_with_both_files() {
        PemFiles.p256(key);

        assertEquals(
                "the key in '%s' doesn't belong to the first certificate in '%s'"
                        .formatted(key, certificate),
                refusal());
    }

    @Test
    void a_key_of_another_kind_is_refused_too() {
        PemFiles.rsa(key);

        assertTrue(refusal().contains("doesn't belong"), refusal());
    }

    @Test
    void an_issuer_before_the_certificate_is_refused() throws Exception {
        String chain = Files.readString(certificate);
        Files.writeString(certificate, authority.pem() + chain);

        assertTrue(refusal().contains("doesn't belong to the first certificate"), refusal());
    }

    @Test
    void a_foreign_issuer_behind_the_certificate_is_refused() throws Exception {
        String chain = Files.readString(certificate);
        Files.writeString(certificate, chain + new Authority().pem());

        assertTrue(refusal().contains("certificate 2 in '"), refusal());
    }

    @Test
    void what_java_refuses_about_a_chain_is_told() throws Exception {
        String own = Files.readString(certificate);
        Files.writeString(certificate, own + authority.pem() + authority.pem());

        assertEquals(
                "'%s' and '%s' can't be used for TLS: Certificate chain is not valid"
                        .formatted(certificate, key),
                refusal());
    }

    @Test
    void files_without_certificate_or_key_are_refused() throws Exception {
        Files.writeString(certificate, "");
        assertTrue(refusal().endsWith("tls.crt' holds no certificate in PEM"), refusal());

        Files.writeString(
                certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----");
        assertTrue(refusal().contains("isn't a chain of certificates"), refusal());

        authority.write("localhost", certificate, key);
        Files.writeString(key, "nothing");
        assertTrue(refusal().contains("tls.key' contains no private key"), refusal());
    }

    @Test
    void a_new_pair_is_used_once_both_files_are_written() throws Exception {
        PortTls tls = PortTls.of(files());
        Object first = tls.context();
        Path other = directory.resolve("other.crt");
        Path otherKey = directory.resolve("other.key");
        authority.write("localhost", other, otherKey);

        Files.move(other, certificate, StandardCopyOption.REPLACE_EXISTING);
        tls.look();
        Files.move(otherKey, key, StandardCopyOption.REPLACE_EXISTING);
        tls.look();
        assertFalse(tls.file().isRefused());
        assertEquals(first, tls.context());
        tls.look();

        assertFalse(first.equals(tls.context()));
        assertFalse(tls.file().isRefused());
    }

    @Test
    void a_pair_that_does_not_fit_leaves_the_former_one_in_use() throws Exception {
        PortTls tls = PortTls.of(files());
        Object first = tls.context();
        String former = Files.readString(key);

        PemFiles.p256(key);
        tls.look();
        tls.look();
        assertTrue(tls.file().isRefused());
        assertEquals(first, tls.context());

        Files.writeString(key, former);
        tls.look();
        assertFalse(tls.file().isRefused());

        Files.delete(key);
        tls.look();
        assertTrue(tls.file().isRefused());
        assertEquals(first, tls.context());
    }

    @Test
    void a_certificate_that_clients_would_refuse_never_replaces_a_good_one() throws Exception {
        PortTls tls = PortTls.of(files());
        Object first = tls.context();
        Instant end = tls.notAfter();

        authority.write("localhost", certificate, key, Instant.now().minus(Duration.ofHours(2)));
        assertTrue(refusal().contains("the certificate in '" + certificate + "' expired at "));
        tls.look();
        tls.look();
        assertTrue(tls.file().isRefused());
        assertEquals(first, tls.context());
        assertEquals(end, tls.notAfter());

        authority.write("localhost", certificate, key, Instant.now().plus(Duration.ofHours(2)));
        assertTrue(refusal().contains("is not valid before "), refusal());

        authority.write("localhost", certificate, key);
        tls.look();
        tls.look();
        assertFalse(tls.file().isRefused());
        assertFalse(first.equals(tls.context()));
    }

    @Test
    @Timeout(Eventually.SECONDS)
    void a_named_pipe_in_place_of_a_file_does_not_hold_up_the_watch() throws Exception {
        PortTls tls = PortTls.of(files());
        Files.delete(key);
        assertEquals(0, new ProcessBuilder("mkfifo", key.toString()).start().waitFor());

        tls.look();

        assertTrue(tls.file().isRefused());
        assertEquals("'" + key + "' is not a regular file", refusal());
    }

    private TlsFiles files() {
        return new TlsFiles("SERVER_TLS_CERTIFICATE_FILE", certificate, key);
    }

    private String refusal() {
        return String.valueOf(
                assertThrows(UnusableCertificate.class, () -> PortTls.of(files())).getMessage());
    }
}
