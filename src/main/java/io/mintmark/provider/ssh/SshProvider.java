package io.mintmark.provider.ssh;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Timestamps;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.CaKey;
import io.mintmark.provider.CallerKey;
import io.mintmark.provider.KeyReference;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.RevocationFormat;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.SshData;

import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.util.OpenSSHPrivateKeyUtil;
import org.bouncycastle.crypto.util.OpenSSHPublicKeyUtil;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Issues user certificates that the broker signs with a tenant's CA key, without calling any
 * service.
 */
public final class SshProvider implements AccessProvider {
    private static final int NONCE_BYTES = 32;

    /**
     * The number of seconds by which a certificate is backdated, so that a server whose clock is
     * slow accepts it.
     */
    private static final int BACKDATED_SECONDS = 60;

    private final SettingSecrets secrets;
    private final InstantSource clock;
    private final SecureRandom random;

    public SshProvider(SettingSecrets secrets, InstantSource clock, SecureRandom random) {
        this.secrets = secrets;
        this.clock = clock;
        this.random = random;
    }

    @Override
    public CredentialType type() {
        return new SshType();
    }

    @Override
    public boolean callsProvider() {
        return false;
    }

    @Override
    public void requireSecrets(TenantName tenant, JsonNode providerSettings) {
        var _ =
                CaKey.read(
                        secrets, tenant, CaKey.reference(SshSettings.ofProvider(providerSettings)));
    }

    @Override
    public Optional<String> objection(TenantName tenant, JsonNode providerSettings, CallerKey key) {
        KeyReference ca = CaKey.reference(SshSettings.ofProvider(providerSettings));
        return CaKey.read(secrets, tenant, ca).objection(key);
    }

    @Override
    public Optional<RevocationFormat> revocations() {
        return Optional.of((_, _, ended, now) ->
                new RevocationFormat.Written(
                        RevocationList.of(ended, now, now.minusSeconds(BACKDATED_SECONDS)),
                        Optional.empty()));
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        SshSettings settings = SshSettings.of(providerSettings, keySettings);
        return new Prepared(settings.principals(), false, order -> mint(order, settings));
    }

    private Minted mint(MintOrder order, SshSettings settings) {
        CaKey ca = CaKey.read(secrets, order.tenant(), settings.caKey());
        Optional<CallerKey> callers = ca.callerKey(order);
        if (callers.isPresent()) {
            return credential(order, settings, callers.get().ssh(), Map.of(), ca);
        }
        var pair = new Ed25519PrivateKeyParameters(random);
        try {
            byte[] key = OpenSSHPublicKeyUtil.encodePublicKey(pair.generatePublicKey());
            return credential(
                    order, settings, key, Map.of("PrivateKey", new Secret(privateKey(pair))), ca);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Minted credential(
            MintOrder order,
            SshSettings settings,
            byte[] key,
            Map<String, Secret> privateKey,
            CaKey ca) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Instant expiry = now.plus(order.duration()).truncatedTo(ChronoUnit.SECONDS);
        SshCertificate certificate =
                new SshCertificate(
                        RevocationList.serial(order.mintId()),
                        "mintmark:%s/%s:%s".formatted(order.tenant(), order.key(), order.mintId()),
                        settings.principals(),
                        now.minusSeconds(BACKDATED_SECONDS),
                        expiry,
                        settings.options(),
                        settings.extensions());
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        Map<String, Secret> fields = new HashMap<>(privateKey);
        Map.of(
                        "PublicKey",
                                SshData.text(ByteBuffer.wrap(key))
                                        + " "
                                        + Base64.getEncoder().encodeToString(key),
                        "Certificate", certificate.of(key, nonce, ca),
                        "KeyId", certificate.keyId(),
                        "Serial", Long.toUnsignedString(certificate.serial()),
                        "Principals", String.join(",", settings.principals()),
                        "KnownHosts", String.join("\n", settings.knownHosts()),
                        "Expiration", Timestamps.text(expiry))
                .forEach((name, value) -> fields.put(name, new Secret(value)));
        return new Minted(fields, expiry, fingerprint(key));
    }

    private static String privateKey(Ed25519PrivateKeyParameters pair) throws IOException {
        return "-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----\n"
                .formatted(
                        Base64.getMimeEncoder(70, new byte[] {'\n'})
                                .encodeToString(OpenSSHPrivateKeyUtil.encodePrivateKey(pair)));
    }

    /** The fingerprint of a key as sshd logs it and {@code ssh-keygen -l} prints it. */
    private static String fingerprint(byte[] key) {
        return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(Secret.sha256(key));
    }
}
