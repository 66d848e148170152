package io.mintmark.provider.x509;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Timestamps;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.CaKey;
import io.mintmark.provider.CallerKey;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.RevocationFormat;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.Settings;
import io.mintmark.provider.UnusableSettingsException;

import org.bouncycastle.cert.X509CertificateHolder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** TLS certificates that the broker signs with the CA key of a tenant. Nobody is called. */
public final class X509Provider implements AccessProvider {
    private final SettingSecrets secrets;
    private final InstantSource clock;

    public X509Provider(SettingSecrets secrets, InstantSource clock) {
        this.secrets = secrets;
        this.clock = clock;
    }

    @Override
    public CredentialType type() {
        return new X509Type();
    }

    @Override
    public boolean callsProvider() {
        return false;
    }

    @Override
    public void requireSecrets(TenantName tenant, JsonNode providerSettings) {
        var _ = authority(tenant, providerSettings);
    }

    @Override
    public Optional<String> objection(TenantName tenant, JsonNode providerSettings, CallerKey key) {
        if (key.info().isEmpty()) {
            return Optional.of(
                    "is on a security key, which TLS doesn't support; send a key that is not on a security key");
        }
        Settings settings = X509Settings.ofProvider(providerSettings);
        return CaKey.read(secrets, tenant, CaKey.reference(settings)).objection(key);
    }

    @Override
    public Map<String, String> certificates(JsonNode providerSettings) {
        return AccessProvider.certificate(providerSettings, "ca_certificate");
    }

    private CertificateAuthority authority(TenantName tenant, JsonNode providerSettings) {
        Settings settings = X509Settings.ofProvider(providerSettings);
        return CertificateAuthority.of(
                settings.requiredText("ca_certificate"),
                CaKey.read(secrets, tenant, CaKey.reference(settings)));
    }

    @Override
    public Optional<RevocationFormat> revocations() {
        return Optional.of((tenant, settings, ended, now) ->
                written(authority(tenant, settings).revocationList(ended, now)));
    }

    /** RFC 7468 section 6. */
    private static RevocationFormat.Written written(byte[] list) {
        String text = CertificateAuthority.pem("X509 CRL", list);
        return new RevocationFormat.Written(
                list, Optional.of(text.getBytes(StandardCharsets.US_ASCII)));
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        X509Settings settings = X509Settings.of(providerSettings, keySettings);
        return new Prepared(settings.targets(), false, order -> mint(order, settings));
    }

    private Minted mint(MintOrder order, X509Settings settings) {
        CaKey caKey = CaKey.read(secrets, order.tenant(), settings.caKey());
        CertificateAuthority ca = CertificateAuthority.of(settings.caCertificate(), caKey);
        Optional<CallerKey> callers = caKey.callerKey(order);
        if (callers.isPresent()) {
            byte[] key =
                    callers.get()
                            .info()
                            .orElseThrow(() ->
                                    new UnusableSettingsException(
                                            "the client's key is on a security key, which TLS doesn't support"));
            return credential(order, settings, key, Map.of(), ca);
        }
        KeyPair pair = newPair(settings.keyType());
        String pem = CertificateAuthority.pem("PRIVATE KEY", pair.getPrivate().getEncoded());
        return credential(
                order,
                settings,
                pair.getPublic().getEncoded(),
                Map.of("PrivateKey", new Secret(pem)),
                ca);
    }

    private Minted credential(
            MintOrder order,
            X509Settings settings,
            byte[] key,
            Map<String, Secret> privateKey,
            CertificateAuthority ca) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Instant expiry = now.plus(order.duration()).truncatedTo(ChronoUnit.SECONDS);
        X509CertificateHolder leaf = new Leaf(order, settings, now, expiry).signed(key, ca);
        try {
            byte[] certificate = leaf.getEncoded();
            Map<String, Secret> fields = new HashMap<>(privateKey);
            fields.put(
                    "Certificate",
                    new Secret(
                            CertificateAuthority.pem("CERTIFICATE", certificate)
                                    + ca.intermediates()));
            fields.put("CaCertificate", new Secret(ca.root()));
            fields.put("Serial", new Secret(leaf.getSerialNumber().toString(16)));
            fields.put("Expiration", new Secret(Timestamps.text(expiry)));
            settings.uri().ifPresent(uri -> fields.put("Uri", new Secret(uri)));
            return new Minted(fields, expiry, HexFormat.of().formatHex(Secret.sha256(certificate)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static KeyPair newPair(String type) {
        try {
            if (type.equals("ed25519")) {
                return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            }
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks Ed25519 or P-256; use a complete Java 25 runtime", e);
        }
    }
}
