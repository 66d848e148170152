package io.mintmark.provider.oauth2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.Orders;
import io.mintmark.provider.TokenEndpoint;
import io.mintmark.provider.Undo;
import io.mintmark.provider.oauth2.TokenExchangeStandIn.Clients;
import io.mintmark.provider.sts.StsRefusal;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

class OAuth2Test {
    private static final String CLIENT = "'client_id':'" + TokenExchangeStandIn.CLIENT + "'";
    private static final String SECRET = "'client_secret':{'file':'client-secret'}";
    private static final Secret TOKEN = new Secret("the-exchanged-token-1");

    private final MintingBroker broker = MintingBroker.usual();
    private final List<TokenExchangeStandIn> servers = new ArrayList<>();

    @AfterEach
    void close() {
        servers.forEach(TokenExchangeStandIn::close);
        broker.close();
    }

    @Test
    void the_brokers_token_is_exchanged_for_one_of_the_servers() {
        var server = server(Clients.NONE);
        Instant before = Instant.now();

        Minted minted = broker.minted(order(server, "", ""));

        assertEquals(
                Map.of(
                        "AccessToken",
                        TOKEN,
                        "Expiration",
                        new Secret(minted.expiresAt().toString())),
                minted.fields());
        assertEquals(HexFormat.of().formatHex(TOKEN.hash()), minted.credentialId());
        Duration life = Duration.between(before, minted.expiresAt());
        assertTrue(
                Math.abs(life.toSeconds() - TokenExchangeStandIn.LIFETIME) <= 20, life::toString);
    }

    @Test
    void the_subject_token_is_for_the_servers_origin_and_names_tenant_key_and_mint()
            throws ParseException {
        var server = server(Clients.NONE);
        broker.minted(order(server, "", ""));

        JWTClaimsSet claims = TokenExchangeStandIn.subjectToken(only(server)).getJWTClaimsSet();
        assertEquals(List.of(server.endpoint().origin()), claims.getAudience());
        assertEquals("tenant:acme:key:deploy", claims.getSubject());
        assertEquals(Orders.MINT_ID.toString(), claims.getJWTID());
    }

    @Test
    void the_subject_token_names_who_acts() throws ParseException {
        var server = server(Clients.NONE);
        broker.minted(order(server, "", "").actedBy("agent:bot"));

        assertEquals(
                Map.of("iss", "https://agents.example.com", "sub", "agent:bot"),
                TokenExchangeStandIn.subjectToken(only(server)).getJWTClaimsSet().getClaim("act"));
    }

    @Test
    void the_subject_tokens_audience_can_be_chosen() throws ParseException {
        var server = server(Clients.NONE);
        broker.failed(order(server, "'subject_audience':'mint'", ""));

        assertEquals(
                List.of("mint"),
                TokenExchangeStandIn.subjectToken(only(server)).getJWTClaimsSet().getAudience());
    }

    @Test
    void nothing_is_sent_that_is_not_set_but_the_wish_for_an_access_token() {
        var server = server(Clients.NONE);
        broker.minted(order(server, "", ""));

        assertEquals(
                Set.of("grant_type", "subject_token", "subject_token_type", "requested_token_type"),
                only(server).parameters().keySet());
        assertEquals(
                Optional.of("urn:ietf:params:oauth:token-type:access_token"),
                only(server).parameter("requested_token_type"));
    }

    @Test
    void what_the_key_says_is_passed_on() {
        var server = server(Clients.NONE);
        broker.minted(
                order(
                        server,
                        "",
                        "'audience':'api &"
                                + " more','resource':'https://api.example/ä?a=b','scope':'read"
                                + " write','requested_token_type':'urn:ietf:params:oauth:token-type:jwt'"));

        Map<String, String> sent = only(server).parameters();
        assertEquals("api & more", sent.get("audience"));
        assertEquals("https://api.example/ä?a=b", sent.get("resource"));
        assertEquals("read write", sent.get("scope"));
        assertEquals("urn:ietf:params:oauth:token-type:jwt", sent.get("requested_token_type"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",'client_auth':'none'"})
    void a_client_without_proof_is_merely_told(String auth) {
        broker.minted(order(server(Clients.TOLD), CLIENT + auth, ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",'client_auth':'client_secret_basic'"})
    void a_client_with_a_secret_proves_itself_with_it(String auth) {
        broker.secret("client-secret", TokenExchangeStandIn.SECRET + "\n");

        broker.minted(order(server(Clients.SECRET), CLIENT + "," + SECRET + auth, ""));
    }

    @Test
    void a_secret_that_is_changed_counts_at_once() {
        var server = server(Clients.SECRET);
        broker.secret("client-secret", "0ld");
        broker.assertFailed(
                Reason.BROKER_IDENTITY_REJECTED, order(server, CLIENT + "," + SECRET, ""));

        broker.secret("client-secret", TokenExchangeStandIn.SECRET);

        broker.minted(order(server, CLIENT + "," + SECRET, ""));
    }

    @Test
    void a_client_can_prove_itself_with_the_brokers_key() throws ParseException {
        var server = server(Clients.KEY);
        broker.minted(order(server, CLIENT + ",'client_auth':'private_key_jwt'", ""));

        assertEquals(Orders.MINT_ID.toString(), assertion(only(server)).getJWTID());
    }

    @Test
    void an_assertion_is_not_shown_twice() throws ParseException {
        var server = server(Clients.KEY);
        server.endpoint().next(TokenEndpoint.saying(503, ""));
        broker.minted(order(server, CLIENT + ",'client_auth':'private_key_jwt'", ""));

        List<OAuthCall> calls = server.endpoint().calls();
        assertEquals(2, calls.size());
        assertNotEquals(assertion(calls.get(0)).getJWTID(), assertion(calls.get(1)).getJWTID());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://broker.example",
                "https://BROKER.example/",
                "https://broker.example/tenants/acme",
                "https://broker.example/tenants/globex"
            })
    void no_assertion_is_made_that_would_pass_for_a_token_of_the_brokers(String client) {
        var server = server(Clients.KEY);
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "could be taken for the broker's issuer",
                order(
                        server,
                        "'client_auth':'private_key_jwt','client_id':'%s'".formatted(client),
                        ""));
        assertEquals(List.of(), server.endpoint().calls());
    }

    @Test
    void an_assertion_does_not_pass_for_the_brokers_identity() {
        var server = server(Clients.KEY);
        broker.minted(order(server, CLIENT + ",'client_auth':'private_key_jwt'", ""));
        String assertion = only(server).parameter("client_assertion").orElseThrow();

        try (StsStandIn sts =
                StsStandIn.aws(MintingBroker.ISSUER, broker.identity()::keySet, server.url())) {
            StsRefusal refusal = StsRefusal.of(sts, new Secret(assertion));

            assertEquals(
                    "No OpenIDConnect provider found for " + TokenExchangeStandIn.CLIENT,
                    refusal.message());
        }
    }

    @Test
    void a_server_that_refuses_the_client_or_the_token_refuses_the_brokers_identity() {
        assertEquals(
                Reason.BROKER_IDENTITY_REJECTED,
                broker.failed(order(server(Clients.TOLD), "'client_id':'other'", "")).reason());
        assertEquals(
                Reason.BROKER_IDENTITY_REJECTED,
                broker.failed(order(server(Clients.NONE), "'subject_audience':'other'", ""))
                        .reason());
    }

    @ParameterizedTest
    @CsvSource({
        "400, invalid_request, 'Unknown parameter requested_token_type', PROVIDER_MISCONFIGURED",
        "400, invalid_request, 'The subject_token has expired',          BROKER_IDENTITY_REJECTED",
        "400, invalid_request, 'Subject token not accepted',             BROKER_IDENTITY_REJECTED",
        "400, invalid_request, 'Invalid token',                          BROKER_IDENTITY_REJECTED",
        "400, invalid_request, 'Invalid token type, must be access token', PROVIDER_MISCONFIGURED",
        "400, invalid_issuer,  'Invalid subject_issuer parameter',       BROKER_IDENTITY_REJECTED",
        "401, invalid_client,  '',                                       BROKER_IDENTITY_REJECTED",
        "400, invalid_grant,   '',                                       BROKER_IDENTITY_REJECTED",
        "401, invalid_token,   '',                                       BROKER_IDENTITY_REJECTED",
        "400, invalid_target,  'the subject token is fine',              PROVIDER_REJECTED",
        "400, unauthorized_client, '',                                   PROVIDER_REJECTED",
        "403, access_denied,   '',                                       PROVIDER_REJECTED",
        "400, invalid_scope,   '',                                       PROVIDER_MISCONFIGURED",
        "400, unsupported_grant_type, '',                                PROVIDER_MISCONFIGURED",
        "400, unsupported_token_type, '',                                PROVIDER_MISCONFIGURED",
        "400, slow_down,       '',                                       PROVIDER_THROTTLED",
        "500, server_error,    '',                                       PROVIDER_ERROR",
        "504, temporarily_unavailable, '',                               PROVIDER_ERROR",
        "400, whatever,        '',                                       PROVIDER_ERROR",
    })
    void every_error_of_the_standards_has_its_reason(
            int status, String error, String description, Reason reason) {
        var server = server(Clients.NONE);
        server.endpoint().next(TokenEndpoint.refusing(status, error, description));

        assertEquals(reason, broker.failed(order(server, "", "")).reason());
    }

    @Test
    void an_answer_that_gives_back_the_brokers_token_gives_nothing() {
        var server = server(Clients.NONE);
        server.endpoint()
                .next((exchange, call) ->
                        TokenEndpoint.saying(
                                        200,
                                        "{'access_token':'%s','token_type':'Bearer','expires_in':60}"
                                                .formatted(call.required("subject_token")))
                                .with(exchange, call));

        Withheld withheld = broker.withheld(order(server, "", ""));

        assertTrue(
                withheld.detail().contains("contains the broker's own token"), withheld.detail());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "urn:ietf:params:oauth:token-type:refresh_token",
                "urn:ietf:params:oauth:token-type:id_token",
                "urn:ietf:params:oauth:token-type:saml2",
                "refresh_token"
            })
    void no_other_type_of_token_is_asked_for(String type) {
        var server = server(Clients.NONE);

        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "'requested_token_type' is '" + type,
                order(server, "", "'requested_token_type':'%s'".formatted(type)));
        assertEquals(List.of(), server.endpoint().calls());
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret hunter-22", "header Basic bWludG1hcms6aHVudGVyLTIy"})
    void a_client_secret_that_is_quoted_stays_out_of_the_record(String quote) {
        var server = server(Clients.SECRET);
        broker.secret("client-secret", "hunter-22");
        server.endpoint().next(TokenEndpoint.refusing(401, "invalid_client", quote));

        String detail =
                broker.failed(order(server, "'client_id':'mintmark'," + SECRET, "")).detail();
        assertTrue(detail.contains("[secret]"), detail);
        assertFalse(detail.contains("hunter-22") || detail.contains("aHVudGVyLTIy"), detail);
    }

    @Test
    void a_refresh_token_beside_it_is_dropped() {
        var server = server(Clients.NONE);
        server.endpoint()
                .next(
                        TokenEndpoint.saying(
                                200,
                                "{'access_token':'t','token_type':'Bearer','expires_in':60,'refresh_token':'r'}"));

        Minted minted = broker.minted(order(server, "", ""));

        assertEquals(Set.of("AccessToken", "Expiration"), minted.fields().keySet());
        assertEquals(new Secret("t"), minted.fields().get("AccessToken"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",'expires_in':0"})
    void a_token_without_lifetime_is_withheld(String lifetime) {
        var server = server(Clients.NONE);
        server.endpoint()
                .next(
                        TokenEndpoint.saying(
                                200,
                                "{'access_token':'t','token_type':'Bearer'%s}"
                                        .formatted(lifetime)));

        Withheld withheld = broker.withheld(order(server, "", ""));

        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertEquals(HexFormat.of().formatHex(new Secret("t").hash()), withheld.credentialId());
        assertTrue(withheld.detail().contains("expires_in"), withheld.detail());
    }

    @Test
    void a_token_is_revoked_at_the_revocation_endpoint_by_the_same_client() {
        var server = server(Clients.SECRET);
        broker.secret("client-secret", TokenExchangeStandIn.SECRET);
        String settings =
                CLIENT
                        + ","
                        + SECRET
                        + ",'revocation_endpoint':'%s/oauth2/revoke'"
                                .formatted(server.endpoint().origin());
        Undo undo = broker.minted(order(server, settings, "")).undo().orElseThrow();
        Instant soon = Instant.now().plusSeconds(10);

        server.endpoint().next(TokenEndpoint.saying(200, ""));
        assertEquals(Optional.empty(), undo.undo(soon));
        OAuthCall call = server.endpoint().calls().getLast();
        assertEquals("/oauth2/revoke", call.path());
        assertEquals(
                Map.of("token", TOKEN.reveal(), "token_type_hint", "access_token"),
                call.parameters());
        assertTrue(call.header("Authorization").orElseThrow().startsWith("Basic "));

        server.endpoint().next(TokenEndpoint.quoting("token"));
        assertEquals(
                Optional.of("invalid_request: can't read [secret] (HTTP 400)"), undo.undo(soon));
    }

    @Test
    void a_withheld_token_is_revoked_too_and_without_an_endpoint_none_is() {
        var server = server(Clients.KEY);
        String client = CLIENT + ",'client_auth':'private_key_jwt'";
        String settings =
                client
                        + ",'revocation_endpoint':'%s/oauth2/revoke'"
                                .formatted(server.endpoint().origin());
        for (String answer :
                List.of("{'access_token':'t','token_type':'Bearer'}", "{'access_token':'t'}")) {
            server.endpoint()
                    .next(TokenEndpoint.saying(200, answer), TokenEndpoint.saying(200, ""));
            Undo undo = broker.withheld(order(server, settings, "")).undo().orElseThrow();
            assertEquals(Optional.empty(), undo.undo(Instant.now().plusSeconds(10)));
            assertEquals(Optional.of("t"), server.endpoint().calls().getLast().parameter("token"));
        }

        assertEquals(Optional.empty(), broker.minted(order(server, client, "")).undo());
    }

    @Test
    void a_token_that_the_server_quotes_is_not_told() {
        var server = server(Clients.NONE);
        server.endpoint().next(TokenEndpoint.quoting("subject_token"));

        Failed failed = broker.failed(order(server, "", ""));

        assertTrue(failed.detail().contains("can't read [secret]"), failed.detail());
        assertFalse(failed.detail().contains("eyJ"), failed.detail());
    }

    @Test
    void a_server_that_hangs_is_waited_for_until_the_deadline() {
        var server = server(Clients.NONE);
        server.endpoint().next(server.endpoint().hanging());

        broker.assertFailed(
                Reason.PROVIDER_TIMEOUT, order(server, "", "").within(Duration.ofMillis(300)));
        assertEquals(1, server.endpoint().calls().size());
    }

    @Test
    void neither_token_nor_secret_follow_a_redirect() {
        var server = server(Clients.SECRET);
        var elsewhere = server(Clients.SECRET);
        broker.secret("client-secret", TokenExchangeStandIn.SECRET);
        server.endpoint().next(TokenEndpoint.redirecting(elsewhere.url()));

        broker.assertFailed(
                Reason.PROVIDER_ERROR, "redirect", order(server, CLIENT + "," + SECRET, ""));
        assertEquals(List.of(), elsewhere.endpoint().calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'client_secret':{'file':'x'}                                | 'client_id' is missing, and client_auth 'client_secret_basic' needs it
                    'client_auth':'client_secret_basic','client_id':'a'         | 'client_secret' is missing
                    'client_auth':'private_key_jwt'                             | 'client_id' is missing, and client_auth 'private_key_jwt' needs it
                    'client_auth':'none','client_id':'a','client_secret':{'file':'x'} | 'client_secret' is set, but client_auth 'none' doesn't use it
                    'client_auth':'private_key_jwt','client_id':'a','client_secret':{'file':'x'} | doesn't use it
                    'client_auth':'client_secret_post','client_id':'a'          | 'client_auth' must be none, client_secret_basic or private_key_jwt, not 'client_secret_post'
                    'client_id':'a','client_secret':'hunter2'                   | 'client_secret' must be an object
                    'client_id':'a','client_secret':{}                          | 'client_secret': setting 'file' is missing
                    'client_id':'a','client_secret':{'file':'x','line':1}       | 'client_secret': setting 'line' is not a setting
                    'client_id':'a','client_secret':{'file':'../globex/x'}      | 'client_secret' must name a file in the tenant's secrets directory
                    'client_id':'a','client_secret':{'file':'/etc/passwd'}      | 'client_secret' must name a file in the tenant's secrets directory
                    'client_id':'a','client_secret':{'file':'nothing'}          | 'client_secret' refers to SECRETS_DIR/acme/nothing, which doesn't exist: write the secret to that file
                    'audience':'x'                                              | 'audience' is not a setting
                    'revocation_endpoint':'http://10.1.2.3/r'                   | 'revocation_endpoint' 'http://10.1.2.3/r' is plain http
                    'grant':'client_credentials'                                | 'grant' must be one of token-exchange, jwt-bearer, not 'client_credentials'
                    'body':'xml'                                                | 'body' must be one of form, json, not 'xml'
                    'subject_lifetime':59                                       | 'subject_lifetime' must be a whole number of seconds from 60 to 3600
                    'subject_lifetime':3601                                     | 'subject_lifetime' must be
                    'subject_lifetime':60.5                                     | 'subject_lifetime' must be
                    'subject_lifetime':'300'                                    | 'subject_lifetime' must be
                    'subject_lifetime':99999999999                              | 'subject_lifetime' must be
                    'subject_parameter':'scope'                                 | 'subject_parameter' names 'scope', which only the broker may set
                    'subject_parameter':'client_id'                             | 'subject_parameter' names 'client_id'
                    'subject_parameter':'assertion'                             | 'subject_parameter' names 'assertion'
                    'subject_parameter':'a b'                                   | 'subject_parameter' has 'a b', which is not a parameter name
                    'parameters':{'subject_token':'x'}                          | 'parameters' names 'subject_token', which only the broker may set
                    'parameters':{'client_id':'x'}                              | 'parameters' names 'client_id'
                    'parameters':{'a':7}                                        | 'parameters' must be a non-empty string
                    'parameters':['a']                                          | 'parameters' must be an object
                    'parameters':{'jwt':'x'},'subject_parameter':'jwt'          | 'parameters' names 'jwt', which only the broker may set
                    'target_parameters':['scope']                               | 'target_parameters' names 'scope'
                    'target_parameters':['a'],'parameters':{'a':'x'}            | 'target_parameters' names 'a', which 'parameters' sets
                    'target_parameters':['client_id'],'client_id':'x'           | 'target_parameters' names 'client_id', which the setting client_id sets
                    'target_parameters':['a']                                   | key setting 'parameters' has the names [], but the access provider's 'target_parameters' lists [a]
                    """)
    void provider_settings_that_cannot_work_are_told_before_anything_is_sent(
            String settings, String told) {
        var server = server(Clients.NONE);
        broker.secret("exists", "x");

        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED, told, order(server, settings, ""));
        assertFalse(failed.detail().contains("hunter2"), failed.detail());
        assertEquals(List.of(), server.endpoint().calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'audience':'api:read'
                    'resource':'api:write'
                    'audience':'api:read','resource':'api:write'
                    'audience':'api:read','scope':'anything'
                    """)
    void a_key_may_aim_at_what_its_provider_allows(String settings) {
        broker.minted(order(server(Clients.NONE), "", settings).allowing("api:*"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'audience':'other'                         | the key's target is 'other'
                    'resource':'https://other'                 | the key's target is 'https://other'
                    'audience':'api:read','resource':'x:other' | the key's target is 'x:other'
                    'audience':'other','resource':'api:read'   | the key's target is 'other'
                    'scope':'everything'                       | the key names no target
                    ``                                         | the key names no target
                    """)
    void it_may_aim_at_nothing_else_in_any_way(String settings, String told) {
        var server = server(Clients.NONE);

        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED,
                        order(server, "", settings).allowing("api:*"));
        assertTrue(failed.detail().startsWith(told), failed.detail());
        assertEquals(List.of(), server.endpoint().calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    ''                                       | 'parameters':{'a':'1'}                           | has the names [a], but the access provider's 'target_parameters' lists []
                    'target_parameters':['a']                | 'parameters':{'a':'1','b':'2'}                   | has the names [a, b], but the access provider's 'target_parameters' lists [a]
                    'grant':'jwt-bearer'                     | 'requested_token_type':'urn:ietf:params:oauth:token-type:jwt' | 'requested_token_type' does not apply
                    """)
    void a_keys_settings_that_do_not_fit_the_access_provider_are_reported(
            String provider, String key, String told) {
        var server = server(Clients.NONE);

        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                told,
                order(server, provider.equals("''") ? "" : provider, key));
        assertEquals(List.of(), server.endpoint().calls());
    }

    private TokenExchangeStandIn server(Clients clients) {
        var server =
                new TokenExchangeStandIn(MintingBroker.ISSUER, broker.identity()::keySet, clients);
        servers.add(server);
        return server;
    }

    private static OAuthCall only(TokenExchangeStandIn server) {
        assertEquals(1, server.endpoint().calls().size());
        return server.endpoint().calls().getFirst();
    }

    private static JWTClaimsSet assertion(OAuthCall call) throws ParseException {
        return SignedJWT.parse(call.parameter("client_assertion").orElseThrow()).getJWTClaimsSet();
    }

    private static Orders order(
            TokenExchangeStandIn server, String providerSettings, String keySettings) {
        return Orders.of(
                "oauth2",
                "{'token_endpoint':'%s'%s}"
                        .formatted(
                                server.url(),
                                providerSettings.isEmpty() ? "" : "," + providerSettings),
                "{" + keySettings + "}");
    }
}
