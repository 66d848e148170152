package io.mintmark.broker.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.file.RereadFile;
import io.mintmark.base.key.SigningKey;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.identity.AccessTokenOrder;
import io.mintmark.provider.identity.AccessTokens;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.ClientAssertions;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.TokenOrder;

import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The broker as an OIDC issuer: it signs its own tokens, one for each mint, and publishes the
 * verification keys. Providers can thus distinguish tenants and keys, and the broker holds no
 * secrets of theirs.
 */
public final class BuiltInIdentity implements BrokerIdentity, AccessTokens, ClientAssertions {
    /**
     * The lifetime of a client assertion. A minute is enough, because the assertion is sent at
     * once; RFC 7523 section 3 leaves the lifetime to the client.
     */
    private static final Duration ASSERTION_LIFETIME = Duration.ofMinutes(1);

    /**
     * The {@code typ} of assertions in the successor of RFC 7523. It keeps an assertion from being
     * accepted as another kind of token.
     */
    private static final JOSEObjectType CLIENT_ASSERTION =
            new JOSEObjectType("client-authentication+jwt");

    private final Issuer issuer;
    private final SigningKeyDirectory directory;
    private final InstantSource clock;

    /**
     * @param issuer {@code BROKER_ISSUER}
     * @param directory {@code BROKER_SIGNING_KEYS_DIR}
     * @throws UnusableSigningKeysException if the directory's keys can't be used
     */
    public BuiltInIdentity(String issuer, Path directory, InstantSource clock) {
        this(issuer, Optional.of(directory), List.of(), clock);
    }

    /**
     * Makes an identity with keys in a token, of which the last signs.
     *
     * @param directory may be absent then
     */
    public BuiltInIdentity(
            String issuer, Optional<Path> directory, List<SigningKey> held, InstantSource clock) {
        this.issuer = new Issuer(issuer);
        this.directory = new SigningKeyDirectory(directory, held, clock);
        this.clock = clock;
    }

    /** The RFC 7638 thumbprints of all keys. */
    public Set<String> keyIds() {
        return directory.keys().published().getKeys().stream()
                .map(JWK::getKeyID)
                .collect(Collectors.toSet());
    }

    /** The time for which the current key has signed; empty if no file's name says it. */
    public Optional<Duration> keyAge() {
        return directory
                .keys()
                .signerSince(directory.today())
                .map(since -> since.atStartOfDay(ZoneOffset.UTC).toInstant())
                .map(since -> Duration.between(since, clock.instant()));
    }

    /** Whether the directory of the keys is usable now, for the metrics; empty if there is none. */
    public Optional<RereadFile> file() {
        return directory.file();
    }

    /**
     * Looks whether the directory holds other keys. What it holds in full is taken over; otherwise
     * the former keys go on signing, and the log says why.
     *
     * @param auditKeys the thumbprints of the audit log's keys, which are refused
     */
    public void reload(Set<String> auditKeys) {
        directory.look(auditKeys);
    }

    @Override
    public Secret token(TokenOrder order) {
        SigningKeys current = directory.keys();
        SigningKey key =
                order.rs256Only()
                        ? signer(current, JWSAlgorithm.RS256)
                        : current.signer(directory.today());
        Instant now = now();
        return key.sign(
                JOSEObjectType.JWT,
                claims(
                                issuer(order.issuer()),
                                order.audience(),
                                order.extraClaims(),
                                now,
                                order.lifetime())
                        .subject("tenant:" + order.tenant() + ":" + order.holder())
                        .jwtID(order.mintId().toString())
                        .build());
    }

    @Override
    public AccessToken accessToken(AccessTokenOrder order) {
        if (issuer.couldBe(order.audience()) || issuer(order.issuer()).couldBe(order.audience())) {
            throw new NoBrokerTokenException(
                    "key setting 'audience' '%s' could be taken for the issuer of the broker or of a tenant: name the service that the token is for"
                            .formatted(order.audience()));
        }
        Instant now = now();
        SigningKeys current = directory.keys();
        SigningKey key =
                order.format()
                        .algorithm()
                        .map(algorithm -> signer(current, JWSAlgorithm.parse(algorithm.name())))
                        .orElseGet(() -> current.signer(directory.today()));
        JWTClaimsSet.Builder claims =
                claims(
                                issuer(order.issuer()).ofTenant(order.tenant()),
                                order.audience(),
                                order.claims(),
                                now,
                                order.duration())
                        .subject(order.subject())
                        .claim("client_id", order.idp() + ":" + order.subject())
                        .jwtID(order.mintId().toString());
        order.act().ifPresent(act -> claims.claim("act", act));
        Secret text = key.sign(new JOSEObjectType(order.format().type()), claims.build());
        return new AccessToken(text, now.plus(order.duration()));
    }

    @Override
    public Secret assertion(String clientId, String audience, String id) {
        if (issuer.couldBe(clientId)) {
            throw new NoBrokerTokenException(
                    "client_id '%s' could be taken for the broker's issuer, so its assertion could pass for a token of the broker: register the client under another id"
                            .formatted(clientId));
        }
        return signer().sign(
                        CLIENT_ASSERTION,
                        claims(new Issuer(clientId), audience, Map.of(), now(), ASSERTION_LIFETIME)
                                .subject(clientId)
                                .jwtID(id)
                                .build());
    }

    @Override
    public boolean shared() {
        return false;
    }

    @Override
    public Optional<String> fault() {
        SigningKeys current = directory.keys();
        SigningKey key = current.signer(directory.today());
        try {
            Secret token =
                    key.sign(
                            JOSEObjectType.JWT,
                            new JWTClaimsSet.Builder().audience("self").build());
            return isVerified(token, current)
                    ? Optional.empty()
                    : Optional.of("a token signed with %s doesn't verify".formatted(key));
        } catch (TokenUnavailable e) {
            return Optional.of(e.getMessage());
        } catch (ParseException | JOSEException e) {
            return Optional.of("a token signed with %s can't be verified".formatted(key));
        }
    }

    /** The public keys as a JWK set (RFC 7517 section 5), the same for every issuer. */
    public String keySet() {
        return directory.keys().published().toString();
    }

    /**
     * The broker's discovery document.
     *
     * @param further members beside those of an issuer
     */
    public String discoveryDocument(Map<String, ?> further) {
        return issuer.discoveryDocument(directory.keys().algorithms(), further);
    }

    /**
     * The discovery document of a tenant's issuer, {@code BROKER_ISSUER/tenants/<tenant>}.
     *
     * @param former the issuer of the cell from which the tenant moved, which its tokens keep
     * @param further members by name
     */
    public String discoveryDocument(
            TenantName tenant, Optional<String> former, Map<String, ?> further) {
        return issuer(former)
                .ofTenant(tenant)
                .discoveryDocument(directory.keys().algorithms(), further);
    }

    /** The issuer of a tenant that came from another cell, or the broker's own. */
    private Issuer issuer(Optional<String> ofTenant) {
        return ofTenant.map(Issuer::new).orElse(issuer);
    }

    private static JWTClaimsSet.Builder claims(
            Issuer issuer,
            String audience,
            Map<String, Object> further,
            Instant now,
            Duration lifetime) {
        var claims = new JWTClaimsSet.Builder();
        further.forEach(claims::claim);
        return claims.issuer(issuer.name())
                .audience(audience)
                .issueTime(Date.from(now))
                .notBeforeTime(Date.from(now))
                .expirationTime(Date.from(now.plus(lifetime)));
    }

    /**
     * Verifies a token as providers do, with the published key that has the token's {@code kid}.
     */
    private static boolean isVerified(Secret token, SigningKeys keys)
            throws ParseException, JOSEException {
        SignedJWT parsed = SignedJWT.parse(token.reveal());
        JWK key = keys.published().getKeyByKeyId(parsed.getHeader().getKeyID());
        JWSVerifier verifier =
                new DefaultJWSVerifierFactory()
                        .createJWSVerifier(parsed.getHeader(), ((AsymmetricJWK) key).toPublicKey());
        return parsed.verify(verifier);
    }

    private SigningKey signer(SigningKeys current, JWSAlgorithm algorithm) {
        return current.signer(directory.today(), algorithm)
                .orElseThrow(() -> missingKey(algorithm));
    }

    private static NoBrokerTokenException missingKey(JWSAlgorithm algorithm) {
        boolean rsa = algorithm.equals(JWSAlgorithm.RS256);
        return new NoBrokerTokenException(
                "the provider accepts only %s, and the broker has no %s signing key: add one to BROKER_SIGNING_KEYS, or to BROKER_SIGNING_KEYS_DIR, made with openssl genpkey -algorithm %s"
                        .formatted(
                                algorithm,
                                rsa ? "RSA" : "P-256",
                                rsa
                                        ? "RSA -pkeyopt rsa_keygen_bits:3072"
                                        : "EC -pkeyopt ec_paramgen_curve:P-256"));
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }

    private SigningKey signer() {
        return directory.keys().signer(directory.today());
    }
}
