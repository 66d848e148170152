package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.identity.AccessTokenOrder;
import io.mintmark.provider.identity.AccessTokens.AccessToken;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.TokenOrder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

class BuiltInIdentityTest {
    private static final Instant NOW = Instant.parse("2026-07-29T12:00:00.9Z");
    private static final TenantName ACME = new TenantName("acme");
    private static final MintId MINT_ID =
            new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab"));

    @TempDir Path directory;

    @Test
    void a_token_says_what_it_is_for_and_lives_for_five_minutes() throws ParseException {
        keys().withP256("2026-01-01");

        SignedJWT token = parsed(identity().token(order(false)));

        assertEquals("ES256", token.getHeader().getAlgorithm().getName());
        assertEquals("JWT", token.getHeader().getType().getType());
        assertEquals(
                json(
                        """
                        {"iss": "https://broker.example", "sub": "tenant:acme:key:deploy",
                         "aud": "https://far.example", "jti": "01980f5e-8a00-7000-8000-0123456789ab",
                         "iat": 1785326400, "nbf": 1785326400, "exp": 1785326700,
                         "policy": ["a", "b"]}
                        """),
                json(token.getPayload().toString()));
    }

    @Test
    void a_token_verifies_against_the_published_keys() throws Exception {
        keys().withP256("2026-01-01").withRsa("2026-02-01", 2048);
        BuiltInIdentity identity = identity();

        assertEquals(Optional.empty(), identity.fault());
        assertEquals(
                List.of("ES256", "RS256"),
                List.of(
                        algorithm(identity.token(order(false))),
                        algorithm(identity.token(order(true)))));
    }

    @Test
    void the_published_set_has_public_halves_only() throws ParseException {
        keys().withP256("2026-01-01").withRsa("2099-01-01", 2048);

        List<JWK> published = JWKSet.parse(identity().keySet()).getKeys();

        assertEquals(2, published.size());
        for (JWK key : published) {
            assertFalse(key.isPrivate());
            assertEquals("sig", key.getKeyUse().identifier());
            assertEquals(43, key.getKeyID().length());
        }
    }

    @Test
    void a_provider_that_takes_only_rs256_needs_an_rsa_key() {
        keys().withP256("2026-01-01");

        var refused =
                assertThrows(NoBrokerTokenException.class, () -> identity().token(order(true)));

        assertTrue(refused.getMessage().contains("has no RSA signing key"));
    }

    @Test
    void a_service_that_verifies_only_es256_needs_a_p256_key() {
        keys().withRsa("2026-01-01", 2048);
        AccessTokenOrder usual = accessToken(Map.of());
        var order =
                new AccessTokenOrder(
                        usual.tenant(),
                        usual.idp(),
                        usual.mintId(),
                        usual.subject(),
                        usual.audience(),
                        usual.claims(),
                        usual.duration(),
                        new AccessTokenOrder.Format(
                                Optional.of(AccessTokenOrder.Algorithm.ES256), "JWT"));

        var refused =
                assertThrows(NoBrokerTokenException.class, () -> identity().accessToken(order));

        assertTrue(refused.getMessage().contains("has no P-256 signing key"));
        assertThrows(
                IllegalArgumentException.class,
                () -> new AccessTokenOrder.Format(Optional.empty(), "id_token"));
    }

    @Test
    void a_token_lives_no_longer_than_is_ordered() throws ParseException {
        keys().withP256("2026-01-01");
        TokenOrder usual = order(false);

        assertEquals(Duration.ofMinutes(5), lifetime(usual));
        assertEquals(Duration.ofSeconds(90), lifetime(usual.livingAtMost(Duration.ofSeconds(90))));
        assertEquals(Duration.ofMinutes(5), lifetime(usual.livingAtMost(Duration.ofHours(1))));
        assertEquals(Duration.ofHours(1), lifetime(usual.living(Duration.ofHours(1))));
        assertThrows(
                IllegalArgumentException.class, () -> usual.livingAtMost(Duration.ofSeconds(0)));
        assertThrows(IllegalArgumentException.class, () -> usual.living(Duration.ofSeconds(3601)));
    }

    @Test
    void a_claim_that_is_the_brokers_own_cannot_be_ordered() {
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        new TokenOrder(
                                ACME, new KeyName("k"), MINT_ID, "aud", false, Map.of("sub", "x")));
        assertThrows(
                IllegalArgumentException.class,
                () -> accessToken(Map.of("https://aws.amazon.com/tags", "x")));
    }

    @Test
    void an_assertion_says_which_client_of_which_server_it_is_and_lives_for_a_minute()
            throws ParseException {
        keys().withP256("2026-01-01");

        SignedJWT assertion =
                parsed(identity().assertion("mintmark", "https://idp.example/token", "id-1"));

        assertEquals("client-authentication+jwt", assertion.getHeader().getType().getType());
        assertEquals(
                json(
                        """
                        {"iss": "mintmark", "sub": "mintmark", "aud": "https://idp.example/token",
                         "jti": "id-1", "iat": 1785326400, "nbf": 1785326400, "exp": 1785326460}
                        """),
                json(assertion.getPayload().toString()));
    }

    @Test
    void an_assertion_verifies_against_the_published_keys() throws Exception {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();

        SignedJWT assertion = parsed(identity.assertion("mintmark", "https://idp.example", "id"));
        JWK key = JWKSet.parse(identity.keySet()).getKeyByKeyId(assertion.getHeader().getKeyID());

        assertTrue(assertion.verify(new ECDSAVerifier(key.toECKey())));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://broker.example", "https://broker.example/",
                "https://Broker.Example//", " https://broker.example",
                "http://broker.example", "broker.example",
                "https://broker.example/tenants/acme", "https://broker.example/x"
            })
    void no_client_is_called_like_an_issuer_of_the_brokers(String clientId) {
        keys().withP256("2026-01-01");

        var refused =
                assertThrows(
                        NoBrokerTokenException.class,
                        () -> identity().assertion(clientId, "https://idp.example", "id"));

        assertTrue(refused.getMessage().contains("could be taken for the broker's issuer"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://broker.example.com",
                "https://broker.example:8443",
                "brokerexample"
            })
    void a_client_may_have_a_name_that_merely_looks_like_it(String clientId) throws ParseException {
        keys().withP256("2026-01-01");

        Secret assertion = identity().assertion(clientId, "https://idp.example", "id");

        assertEquals(clientId, parsed(assertion).getJWTClaimsSet().getIssuer());
    }

    @Test
    void an_access_token_has_its_tenants_issuer_and_a_type_of_its_own() throws ParseException {
        keys().withP256("2026-01-01");

        AccessToken token = identity().accessToken(accessToken(Map.of("scope", "read")));

        assertEquals(Instant.parse("2026-07-29T12:01:00Z"), token.expiresAt());
        assertEquals("at+jwt", parsed(token.text()).getHeader().getType().getType());
        assertEquals(
                json(
                        """
                        {"iss": "https://broker.example/tenants/acme", "sub": "repo:acme/app",
                         "client_id": "github:repo:acme/app", "aud": "https://api.example",
                         "jti": "01980f5e-8a00-7000-8000-0123456789ab", "scope": "read",
                         "iat": 1785326400, "nbf": 1785326400, "exp": 1785326460}
                        """),
                json(parsed(token.text()).getPayload().toString()));
    }

    @Test
    void the_discovery_documents_name_the_algorithms_of_the_keys() {
        keys().withP256("2026-01-01").withRsa("2026-02-01", 2048);

        for (String document :
                List.of(
                        identity().discoveryDocument(Map.of()),
                        identity().discoveryDocument(ACME, Optional.empty(), Map.of()))) {
            assertEquals(
                    json("[\"ES256\", \"RS256\"]"),
                    json(document).path("id_token_signing_alg_values_supported"));
        }
    }

    @Test
    void keys_can_be_read_again() throws ParseException {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();
        keys().withP256("2026-07-29");
        String before = kid(identity);

        identity.reload(Set.of());

        assertFalse(before.equals(kid(identity)));
        assertEquals(2, JWKSet.parse(identity.keySet()).size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-07-29.pem", "notes.txt"})
    void a_directory_that_can_not_be_used_as_a_whole_leaves_the_former_keys_in_place(String name)
            throws Exception {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();
        String before = identity.keySet();
        keys().withP256("2026-07-28");
        Files.writeString(directory.resolve(name), "no key");

        identity.reload(Set.of());
        assertEquals(before, identity.keySet());
        assertEquals(Optional.empty(), identity.fault());

        Files.delete(directory.resolve(name));
        identity.reload(Set.of());
        assertEquals(2, JWKSet.parse(identity.keySet()).size());
    }

    /** Its owner would be trusted by providers, and a thief of one key would have both. */
    @Test
    void the_key_of_the_audit_log_does_not_become_a_signing_key() throws ParseException {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();
        String before = identity.keySet();
        keys().withP256("2026-07-29");

        identity.reload(Set.of(kid(identity())));
        assertEquals(before, identity.keySet());

        identity.reload(Set.of());
        assertEquals(2, JWKSet.parse(identity.keySet()).size());
    }

    @Test
    void a_directory_that_is_empty_or_gone_leaves_the_former_keys_in_place() throws Exception {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();
        String before = kid(identity);

        Files.delete(directory.resolve("2026-01-01.pem"));
        identity.reload(Set.of());
        assertEquals(before, kid(identity));

        Files.delete(directory);
        identity.reload(Set.of());
        assertEquals(before, kid(identity));
    }

    @Test
    void another_key_under_the_same_name_is_noticed() throws Exception {
        keys().withP256("2026-01-01");
        BuiltInIdentity identity = identity();
        String before = kid(identity);
        FileTime time = Files.getLastModifiedTime(directory.resolve("2026-01-01.pem"));
        keys().withP256("2026-01-01");
        Files.setLastModifiedTime(directory.resolve("2026-01-01.pem"), time);

        identity.reload(Set.of());

        assertFalse(before.equals(kid(identity)));
        assertEquals(1, JWKSet.parse(identity.keySet()).size());
    }

    @Test
    void keys_that_kubernetes_swaps_in_are_noticed() throws Exception {
        Path volume = Files.createDirectory(directory.resolve("volume"));
        new KeyDirectory(Files.createDirectory(volume.resolve("..1"))).withP256("2026-01-01");
        new KeyDirectory(Files.createDirectory(volume.resolve("..2"))).withP256("2026-01-01");
        Files.createSymbolicLink(volume.resolve("..data"), Path.of("..1"));
        Files.createSymbolicLink(
                volume.resolve("2026-01-01.pem"), Path.of("..data", "2026-01-01.pem"));
        var identity =
                new BuiltInIdentity("https://broker.example", volume, InstantSource.fixed(NOW));
        String before = kid(identity);

        Files.createSymbolicLink(volume.resolve("..data_tmp"), Path.of("..2"));
        Files.move(
                volume.resolve("..data_tmp"),
                volume.resolve("..data"),
                StandardCopyOption.ATOMIC_MOVE);
        identity.reload(Set.of());

        assertFalse(before.equals(kid(identity)));
    }

    private KeyDirectory keys() {
        return new KeyDirectory(directory);
    }

    private BuiltInIdentity identity() {
        return new BuiltInIdentity("https://broker.example", directory, InstantSource.fixed(NOW));
    }

    private static TokenOrder order(boolean rs256Only) {
        return new TokenOrder(
                ACME,
                new KeyName("deploy"),
                MINT_ID,
                "https://far.example",
                rs256Only,
                Map.of("policy", List.of("a", "b")));
    }

    private static AccessTokenOrder accessToken(Map<String, Object> claims) {
        return new AccessTokenOrder(
                ACME,
                new IdpName("github"),
                MINT_ID,
                "repo:acme/app",
                "https://api.example",
                claims,
                Duration.ofMinutes(1),
                AccessTokenOrder.Format.USUAL);
    }

    private Duration lifetime(TokenOrder order) throws ParseException {
        JWTClaimsSet claims = parsed(identity().token(order)).getJWTClaimsSet();
        return Duration.between(
                claims.getIssueTime().toInstant(), claims.getExpirationTime().toInstant());
    }

    private static String kid(BuiltInIdentity identity) throws ParseException {
        return parsed(identity.token(order(false))).getHeader().getKeyID();
    }

    private static String algorithm(Secret token) throws ParseException {
        return parsed(token).getHeader().getAlgorithm().getName();
    }

    private static SignedJWT parsed(Secret token) throws ParseException {
        return SignedJWT.parse(token.reveal());
    }

    private static JsonNode json(String text) {
        return Unchecked.call(() -> new ObjectMapper().readTree(text));
    }
}
