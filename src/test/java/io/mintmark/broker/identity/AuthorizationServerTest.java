package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.broker.identity.TokenService.IssuedToken;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class AuthorizationServerTest {
    private static final IdpClient BASIC =
            new IdpClient.SecretBasic(IdpStandIn.CLIENT, new Secret(IdpStandIn.SECRET));
    private static final IdpClient POST =
            new IdpClient.SecretPost(IdpStandIn.CLIENT, new Secret(IdpStandIn.SECRET));

    @AutoClose private final IdpStandIn idp = IdpStandIn.start();

    @TempDir Path directory;

    @Test
    void the_client_proves_itself_with_its_secret_in_the_header_or_among_the_parameters() {
        assertEquals("token-1", id(server(BASIC).issue()));
        assertEquals("token-2", id(server(POST).issue()));
    }

    @Test
    void the_client_proves_itself_with_a_new_assertion_each_time() {
        var keys =
                new BuiltInIdentity(
                        "https://broker.example",
                        new KeyDirectory(directory).withP256("2026-01-01").path(),
                        InstantSource.system());
        idp.trust(keys::keySet);
        AuthorizationServer server = server(new IdpClient.PrivateKey(IdpStandIn.CLIENT, keys));

        server.issue();
        server.issue();

        assertEquals(2, idp.requests().size());
        idp.trust(() -> "{\"keys\":[]}");
        assertEquals(Kind.REJECTED, refusal(server).kind());
    }

    @Test
    void a_client_without_keys_can_not_prove_itself_by_assertions() {
        NoBrokerTokenException refused =
                refusal(server(new IdpClient.PrivateKey("mintmark", new NoSigningKeys())));

        assertTrue(refused.getMessage().contains("BROKER_SIGNING_KEYS_DIR"), refused.getMessage());
        assertEquals(List.of(), idp.requests());
    }

    @Test
    void audience_and_scope_are_asked_for_where_they_are_set() {
        access(POST, Optional.of("sts.amazonaws.com"), Optional.of("aws storage")).issue();
        server(POST).issue();

        Map<String, String> asked = idp.requests().getFirst();
        assertEquals("sts.amazonaws.com", asked.get("audience"));
        assertEquals("aws storage", asked.get("scope"));
        assertEquals(
                Map.of(
                        "grant_type", "client_credentials",
                        "client_id", IdpStandIn.CLIENT,
                        "client_secret", IdpStandIn.SECRET),
                idp.requests().getLast());
    }

    @Test
    void the_token_endpoint_is_the_one_that_the_issuers_metadata_name() {
        assertEquals("token-1", id(discovering(idp.url()).issue()));

        idp.pages().serve(IssuerStandIn.DISCOVERY, "<html>");
        idp.pages()
                .serve("/.well-known/oauth-authorization-server/realms/a", metadata("/realms/a"));
        assertEquals("token-2", id(discovering(idp.url() + "/realms/a").issue()));
        assertEquals(
                List.of(
                        IssuerStandIn.DISCOVERY,
                        IdpStandIn.TOKEN,
                        "/realms/a" + IssuerStandIn.DISCOVERY,
                        "/.well-known/oauth-authorization-server/realms/a",
                        IdpStandIn.TOKEN),
                idp.pages().fetched());
    }

    @Test
    void an_issuer_is_compared_to_the_last_slash() {
        idp.pages().serve(IssuerStandIn.DISCOVERY, metadata("/"));

        assertEquals("token-1", id(discovering(idp.url() + "/").issue()));
        NoBrokerTokenException refused = refusal(discovering(idp.url()));

        assertEquals(Kind.MISCONFIGURED, refused.kind());
        assertTrue(refused.getMessage().contains("names the issuer '" + idp.url() + "/'"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'issuer':'IDP','token_endpoint':'IDP/oauth/token','x':NUMBER}",
                "{'issuer':'IDP','token_endpoint':'https://a.example','token_endpoint':'IDP/oauth/token'}",
                "{'issuer':'IDP','token_endpoint':'IDP/oauth/token'}{}",
                "{'issuer':'IDP','token_endpoint':'not a URL'}",
                "[{'issuer':'IDP','token_endpoint':'IDP/oauth/token'}]",
            })
    void metadata_that_could_be_read_in_several_ways_lead_nowhere(String document) {
        idp.pages()
                .serve(
                        IssuerStandIn.DISCOVERY,
                        document.replace('\'', '"')
                                .replace("IDP", idp.url())
                                .replace("NUMBER", "9".repeat(900_000)));
        assertEquals(Kind.FAILED, refusal(discovering(idp.url())).kind());
        assertEquals(List.of(), idp.requests());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t','token_type':'mac','expires_in':60}",
                "{'access_token':'t','token_type':'Bearer','expires_in':NUMBER}",
                "{'access_token':'t\\n','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t','access_token':'u','token_type':'Bearer','expires_in':60}",
                "{'access_token':'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJhIiwiYXVkIjoiYiJ9.c2ln','token_type':'Bearer','expires_in':60}",
            })
    void a_token_that_could_be_read_in_several_ways_is_not_used(String answer) {
        idp.next(200, answer.replace('\'', '"').replace("NUMBER", "9".repeat(50_000)));
        assertEquals(Kind.FAILED, refusal(server(BASIC)).kind());
    }

    @Test
    void no_secret_goes_where_another_issuers_metadata_lead() {
        idp.pages().serve(IssuerStandIn.DISCOVERY, metadata(".evil.example"));

        assertEquals(Kind.MISCONFIGURED, refusal(discovering(idp.url())).kind());
        assertEquals(List.of(), idp.requests());
    }

    @Test
    void a_redirect_is_followed_by_neither_discovery_nor_a_request() {
        idp.pages().redirect(IssuerStandIn.DISCOVERY, idp.url() + "/elsewhere");
        assertEquals(Kind.FAILED, refusal(discovering(idp.url())).kind());

        idp.pages().redirect(IdpStandIn.TOKEN, idp.url() + "/elsewhere");
        assertEquals(Kind.FAILED, refusal(server(BASIC)).kind());
        assertFalse(idp.pages().fetched().contains("/elsewhere"));
    }

    @Test
    void an_identity_provider_at_a_private_address_must_be_listed() {
        NoBrokerTokenException refused = refusal(server(BASIC, List.of()));

        assertEquals(Kind.MISCONFIGURED, refused.kind());
        assertTrue(refused.getMessage().contains("OUTBOUND_ALLOWED_HOSTS"), refused.getMessage());
        assertEquals(List.of(), idp.pages().fetched());
    }

    @Test
    void metadata_that_lead_to_a_private_address_do_not_get_there() {
        idp.pages()
                .serve(
                        IssuerStandIn.DISCOVERY,
                        "{\"issuer\":\"%s\",\"token_endpoint\":\"http://169.254.169.254/token\"}"
                                .formatted(idp.url()));

        NoBrokerTokenException refused = refusal(discovering(idp.url()));

        assertEquals(Kind.MISCONFIGURED, refused.kind());
        assertTrue(
                refused.getMessage().contains("plain http is allowed only"), refused.getMessage());
    }

    @Test
    void a_token_lives_as_long_as_both_the_answer_and_the_token_say() {
        Instant began = Instant.now();
        idp.lasting(Optional.of(Duration.ofHours(1)));
        idp.give(Map.of("aud", "x", "exp", began.plusSeconds(60).getEpochSecond()));
        assertEquals(
                began.plusSeconds(60).getEpochSecond(),
                server(BASIC).issue().expiresAt().getEpochSecond());

        idp.lasting(Optional.empty());
        assertEquals(
                began.plusSeconds(60).getEpochSecond(),
                server(BASIC).issue().expiresAt().getEpochSecond());

        idp.next(200, "{\"access_token\":\"opaque\",\"token_type\":\"Bearer\",\"expires_in\":60}");
        assertFalse(server(BASIC).issue().expiresAt().isBefore(began.plusSeconds(60)));
    }

    @Test
    void a_token_of_which_nobody_says_how_long_it_lives_is_not_used() {
        idp.next(200, "{\"access_token\":\"opaque\",\"token_type\":\"Bearer\"}");

        NoBrokerTokenException refused = refusal(server(BASIC));

        assertEquals(Kind.FAILED, refused.kind());
        assertTrue(
                refused.getMessage().contains("neither the response (expires_in)"),
                refused.getMessage());
    }

    @Test
    void a_token_that_has_expired_already_is_not_used() {
        idp.give(Map.of("aud", "x", "exp", 1_700_000_000));

        assertTrue(refusal(server(BASIC)).getMessage().contains("expired at 2023-11-14"));
    }

    @ParameterizedTest
    @CsvSource({
        "401, {'error':'invalid_client'},         REJECTED",
        "400, {'error':'unauthorized_client'},    REJECTED",
        "400, {'error':'invalid_grant'},          REJECTED",
        "403, <html>,                             REJECTED",
        "400, {'error':'invalid_scope'},          MISCONFIGURED",
        "400, {'error':'invalid_target'},         MISCONFIGURED",
        "400, {'error':'unsupported_grant_type'}, MISCONFIGURED",
        "404, nothing,                            MISCONFIGURED",
        "429, {'error':'slow_down'},              THROTTLED",
        "503, <html>,                             FAILED",
        "500, {'error':'server_error'},           FAILED",
        "200, {},                                 FAILED",
        "200, <html>,                             FAILED",
    })
    void what_an_identity_provider_answers_means_one_of_a_few_things(
            int status, String body, Kind kind) {
        idp.next(status, body.replace('\'', '"'));

        assertEquals(kind, refusal(server(BASIC)).kind());
    }

    @Test
    void nobody_listening_is_told_apart() {
        idp.pages().goDown();

        assertEquals(Kind.UNREACHABLE, refusal(server(BASIC)).kind());
        assertEquals(Kind.UNREACHABLE, refusal(discovering(idp.url())).kind());
    }

    @Test
    void a_secret_that_an_identity_provider_quotes_is_not_repeated() {
        idp.next(
                400,
                "{\"error\":\"invalid_request\",\"error_description\":\"no %s, eyJhbGciOiJub25lIn0.e30.\"}"
                        .formatted(IdpStandIn.SECRET));

        String said = refusal(server(BASIC)).getMessage();

        assertTrue(said.contains("no [secret], [token]"), said);
        assertFalse(BASIC.toString().contains(IdpStandIn.SECRET), BASIC::toString);
    }

    private String metadata(String path) {
        return idp.metadata(idp.url() + path);
    }

    private static NoBrokerTokenException refusal(AuthorizationServer server) {
        return assertThrows(NoBrokerTokenException.class, server::issue);
    }

    private AuthorizationServer server(IdpClient client) {
        return server(client, List.of("127.0.0.1"));
    }

    private AuthorizationServer server(IdpClient client, List<String> allowed) {
        return new AuthorizationServer(
                new IdpAccess(
                        Optional.empty(),
                        Optional.of(URI.create(idp.tokenEndpoint())),
                        client,
                        Optional.empty(),
                        Optional.empty()),
                new GuardedHttp(new Destinations(allowed)),
                InstantSource.system());
    }

    private AuthorizationServer access(
            IdpClient client, Optional<String> audience, Optional<String> scope) {
        return new AuthorizationServer(
                new IdpAccess(
                        Optional.empty(),
                        Optional.of(URI.create(idp.tokenEndpoint())),
                        client,
                        audience,
                        scope),
                new GuardedHttp(new Destinations(List.of("127.0.0.1"))),
                InstantSource.system());
    }

    private AuthorizationServer discovering(String issuer) {
        return new AuthorizationServer(
                new IdpAccess(
                        Optional.of(issuer),
                        Optional.empty(),
                        BASIC,
                        Optional.empty(),
                        Optional.empty()),
                new GuardedHttp(new Destinations(List.of("127.0.0.1"))),
                InstantSource.system());
    }

    private static String id(IssuedToken token) {
        try {
            return com.nimbusds.jwt.SignedJWT.parse(token.text().reveal())
                    .getJWTClaimsSet()
                    .getJWTID();
        } catch (java.text.ParseException e) {
            throw new AssertionError(e);
        }
    }
}
