package io.mintmark.provider.jwt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.sts.StsRefusal;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.text.ParseException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;

class JwtProviderTest {
    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @Test
    void the_client_gets_an_access_token_of_its_tenants_issuer() throws ParseException {
        Minted minted =
                broker.minted(
                        order(
                                        "'audience':'https://api.example','claims':{'scope':'read','level':3}")
                                .lasting(Duration.ofSeconds(90)));

        SignedJWT token = SignedJWT.parse(text(minted).reveal());
        JWTClaimsSet claims = token.getJWTClaimsSet();
        assertEquals("at+jwt", token.getHeader().getType().getType());
        assertEquals("https://broker.example/tenants/acme", claims.getIssuer());
        assertEquals("repo:acme/app:ref:refs/heads/main", claims.getSubject());
        assertEquals(List.of("https://api.example"), claims.getAudience());
        assertEquals(Orders.MINT_ID.toString(), claims.getJWTID());
        assertEquals("read", claims.getClaim("scope"));
        assertEquals(3L, claims.getClaim("level"));
        assertEquals("github:repo:acme/app:ref:refs/heads/main", claims.getClaim("client_id"));
        assertEquals(minted.expiresAt(), claims.getExpirationTime().toInstant());
        assertEquals(
                claims.getIssueTime().toInstant().plusSeconds(90),
                claims.getExpirationTime().toInstant());
    }

    @Test
    void its_fields_are_the_token_and_its_expiry_and_its_id_is_the_tokens_hash() {
        Minted minted = broker.minted(order("'audience':'https://api.example'"));

        assertEquals(Set.of("AccessToken", "Expiration"), minted.fields().keySet());
        assertEquals(new Secret(minted.expiresAt().toString()), minted.fields().get("Expiration"));
        assertEquals(HexFormat.of().formatHex(text(minted).hash()), minted.credentialId());
    }

    @Test
    void an_access_token_does_not_pass_for_the_brokers_identity() {
        String audience = "https://api.example";
        try (StsStandIn sts =
                StsStandIn.aws(MintingBroker.ISSUER, broker.identity()::keySet, audience)) {
            Secret token = text(broker.minted(order("'audience':'" + audience + "'")));

            StsRefusal refusal = StsRefusal.of(sts, token);

            assertEquals(
                    "No OpenIDConnect provider found for https://broker.example/tenants/acme",
                    refusal.message());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'claims':{}                                              | 'audience' is missing
                    'audience':7                                             | 'audience' must be a non-empty string
                    'audience':'https://STS.amazonaws.com/'                  | must not be an audience of a cloud vendor
                    'audience':'a','claims':[]                               | 'claims' must be an object
                    'audience':'a','claims':{'iss':'x'}                      | the reserved claim 'iss'
                    'audience':'a','claims':{'exp':99999999999}              | the reserved claim 'exp'
                    'audience':'a','claims':{'client_id':'x'}                | the reserved claim 'client_id'
                    'audience':'a','claims':{'https://aws.amazon.com/tags':{}} | the reserved claim
                    'audience':'a','claims':{'HTTPS://AWS.amazon.com/x':'y'} | the reserved claim
                    'audience':'a','claims':{'ISS':'x'}                      | the reserved claim 'ISS'
                    'audience':'a','claims':{'sub ':'x'}                     | the reserved claim 'sub '
                    'audience':'a','claims':{'\\u200baud':'x'}               | the reserved claim
                    'audience':'a','claims':{'ｉｓｓ':'x'}                      | the reserved claim
                    'audience':'a','claims':{' https://aws.amazon.com/tags':{}} | the reserved claim
                    'audience':'a','claims':{'Groups':['admins']}            | the reserved claim 'Groups'
                    'audience':'a','claims':{'tid ':'x'}                     | the reserved claim 'tid '
                    'audience':'a','claims':{'s cope':'x'}                   | the reserved claim 's cope'
                    'audience':'https://broker.example'                      | the issuer of the broker or of a tenant
                    'audience':'https://Broker.example/'                     | the issuer of the broker or of a tenant
                    'audience':'broker.example'                              | the issuer of the broker or of a tenant
                    'audience':'https://broker.example/tenants/globex'       | the issuer of the broker or of a tenant
                    'audience':'https://broker.example/tenants/acme'         | the issuer of the broker or of a tenant
                    'audience':'a','claims':{'scope':null}                   | has null for 'scope'
                    'audience':'a','scope':'x'                               | 'scope' is not a setting
                    'audience':'a','algorithm':'HS256'                       | 'algorithm' must be one of ES256, RS256, not 'HS256'
                    'audience':'a','type':'id_token'                         | 'type' must be one of at+jwt, JWT, not 'id_token'
                    """)
    void settings_that_cannot_work_are_told(String settings, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(settings));
    }

    @ParameterizedTest
    @CsvSource({"ES256, at+jwt", "RS256, JWT"})
    void algorithm_and_type_are_what_the_service_verifies(String algorithm, String type)
            throws ParseException {
        Minted minted =
                broker.minted(
                        order(
                                "'audience':'https://api.example','algorithm':'%s','type':'%s'"
                                        .formatted(algorithm, type)));

        SignedJWT token = SignedJWT.parse(text(minted).reveal());
        assertEquals(algorithm, token.getHeader().getAlgorithm().getName());
        assertEquals(type, token.getHeader().getType().getType());
    }

    @Test
    void a_service_beside_the_broker_may_be_its_audience() throws ParseException {
        Minted minted = broker.minted(order("'audience':'https://broker.example.com/api'"));

        assertEquals(
                List.of("https://broker.example.com/api"),
                SignedJWT.parse(text(minted).reveal()).getJWTClaimsSet().getAudience());
    }

    @Test
    void its_audience_is_the_target_that_the_provider_limits() {
        Failed failed =
                broker.failed(
                        order("'audience':'https://api.example'")
                                .allowing("https://other.example/**"));

        assertEquals(
                "the key's target is 'https://api.example', and access provider 'cloud' allows only"
                        + " [https://other.example/**]",
                failed.detail());
    }

    private static Secret text(Minted minted) {
        return Objects.requireNonNull(minted.fields().get("AccessToken"));
    }

    private static Orders order(String keySettings) {
        return Orders.of("jwt", "{}", "{" + keySettings + "}");
    }
}
