package io.mintmark.broker.wiring;

import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.config.IdentitySettings.BuiltIn;
import io.mintmark.base.config.IdentitySettings.ClientCredentials;
import io.mintmark.base.config.IdentitySettings.TokenFile;
import io.mintmark.base.config.Password;
import io.mintmark.base.key.SigningKey;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.identity.ClientCredentialsIdentity;
import io.mintmark.broker.identity.IdpAccess;
import io.mintmark.broker.identity.IdpClient;
import io.mintmark.broker.identity.NoSigningKeys;
import io.mintmark.broker.identity.SigningKeyWatch;
import io.mintmark.broker.identity.TokenFileIdentity;
import io.mintmark.provider.identity.AccessTokens;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.ClientAssertions;

import java.net.URI;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;

/**
 * The broker's identity from its settings: what it presents to access providers, and its signing
 * keys, which it may have in addition to an external identity.
 */
public final class OwnIdentity implements AutoCloseable {
    private final Optional<BuiltInIdentity> issuer;
    private final Optional<SigningKeyWatch> watch;
    private final BrokerIdentity shown;

    /**
     * @param held where the keys of {@code BROKER_SIGNING_KEYS} are
     * @param auditKeys the thumbprints of the audit log's keys, which may not become signing keys
     * @throws io.mintmark.broker.identity.UnusableSigningKeysException if there should be keys and
     *     they can't be used
     */
    public OwnIdentity(
            BrokerSettings settings,
            HeldKeys held,
            GuardedHttp http,
            Set<String> auditKeys,
            InstantSource clock) {
        this.issuer =
                settings.hasSigningKeys()
                        ? Optional.of(issuer(settings, held, clock))
                        : Optional.empty();
        this.watch =
                issuer.filter(keys -> keys.file().isPresent())
                        .map(keys -> new SigningKeyWatch(keys, auditKeys));
        this.shown =
                switch (settings.identity()) {
                    case BuiltIn _ -> issuer.orElseThrow();
                    case ClientCredentials client ->
                            new ClientCredentialsIdentity(
                                    access(client), http, clock, new SecureRandom());
                    case TokenFile(var file) -> new TokenFileIdentity(file, clock);
                };
    }

    private static BuiltInIdentity issuer(
            BrokerSettings settings, HeldKeys held, InstantSource clock) {
        try {
            return new BuiltInIdentity(
                    settings.issuer().orElseThrow().toString(),
                    settings.signingKeysDir(),
                    settings.signingKeys().stream()
                            .map(uri -> SigningKey.of(held.key(uri).jwk()))
                            .toList(),
                    clock);
        } catch (TokenUnavailable e) {
            throw new StartFailed("BROKER_SIGNING_KEYS: " + e.getMessage());
        }
    }

    /** Begins what goes on in the background. */
    public OwnIdentity start() {
        watch.ifPresent(SigningKeyWatch::start);
        if (shown instanceof ClientCredentialsIdentity client) {
            client.start();
        }
        return this;
    }

    /**
     * Whether the broker requests its tokens from an identity provider, so that the first token may
     * arrive a moment later.
     */
    public boolean isAsking() {
        return shown instanceof ClientCredentialsIdentity;
    }

    /** The identity that the broker shows to access providers. */
    public BrokerIdentity shown() {
        return shown;
    }

    /** The broker's own issuer, if it has signing keys. */
    public Optional<BuiltInIdentity> issuer() {
        return issuer;
    }

    /** The ids of the keys that the broker signs tokens with. */
    public Set<String> keyIds() {
        return issuer.map(BuiltInIdentity::keyIds).orElse(Set.of());
    }

    /**
     * The signer of tokens that name a tenant, even where access providers are shown another
     * identity.
     */
    BrokerIdentity signed() {
        return issuer.<BrokerIdentity>map(it -> it).orElseGet(NoSigningKeys::new);
    }

    /** The signer of access tokens for clients. */
    AccessTokens accessTokens() {
        return issuer.<AccessTokens>map(it -> it).orElseGet(NoSigningKeys::new);
    }

    /** The signer of assertions by which the broker authenticates as an OAuth client. */
    ClientAssertions clientAssertions() {
        return issuer.<ClientAssertions>map(it -> it).orElseGet(NoSigningKeys::new);
    }

    @Override
    public void close() {
        watch.ifPresent(SigningKeyWatch::close);
        if (shown instanceof ClientCredentialsIdentity client) {
            client.close();
        }
    }

    private IdpAccess access(ClientCredentials settings) {
        return new IdpAccess(
                settings.issuer().map(URI::toString),
                settings.tokenEndpoint(),
                client(settings),
                settings.audience(),
                settings.scope());
    }

    private IdpClient client(ClientCredentials settings) {
        String id = settings.clientId();
        return switch (settings.auth()) {
            case SECRET_BASIC -> new IdpClient.SecretBasic(id, secret(settings));
            case SECRET_POST -> new IdpClient.SecretPost(id, secret(settings));
            case PRIVATE_KEY_JWT -> new IdpClient.PrivateKey(id, clientAssertions());
        };
    }

    private static Secret secret(ClientCredentials settings) {
        return new Secret(settings.secret().map(Password::reveal).orElseThrow());
    }
}
