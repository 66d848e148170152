package io.mintmark.provider.gcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.identity.TokenOrder;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A stand-in that accepts anything would prove nothing. */
class GoogleStandInTest {
    private static final Pattern TOKEN = Pattern.compile("ya29[^\"]+");
    private static final String ACCOUNT =
            "/v1/projects/-/serviceAccounts/" + GoogleStandIn.ACCOUNT + ":generateAccessToken";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final GoogleStandIn google =
            broker.google().binding("tenant:acme:key:deploy", GoogleStandIn.ACCOUNT);

    @Test
    void a_good_exchange_gives_a_token() throws GoogleRefusal {
        assertTrue(
                google.answer(exchange(token("acme", GoogleStandIn.PROVIDER))).contains("ya29."));
    }

    @ParameterizedTest
    @CsvSource({
        "grantType,          client_credentials,            invalid_request",
        "requestedTokenType, urn:x,                         invalid_request",
        "subjectTokenType,   urn:x,                         invalid_request",
        "audience,           https://iam.googleapis.com/x,  invalid_request",
        "audience,          "
                + " //iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x,"
                + " invalid_target",
        "scope,              '',                            invalid_scope",
        "options,            {},                            invalid_scope",
        "subjectToken,       none,                          invalid_grant",
        "grant_type,         x,                             Unknown name",
    })
    void it_refuses_a_wrong_field(String name, String value, String error) {
        GoogleCall call = exchange(token("acme", GoogleStandIn.PROVIDER));
        ((ObjectNode) call.body()).put(name, value);

        assertRefused(error, call);
    }

    @Test
    void it_refuses_a_header_that_says_who_asks() {
        GoogleCall good = exchange(token("acme", GoogleStandIn.PROVIDER));

        assertRefused(
                "UNAUTHENTICATED",
                new GoogleCall(good.path(), Optional.of("Bearer x"), good.reason(), good.body()));
    }

    @Test
    void it_refuses_a_token_for_another_audience_and_one_of_another_tenant() {
        assertRefused("invalid_grant", exchange(token("acme", "https://elsewhere.example")));
        assertRefused("unauthorized_client", exchange(token("other", GoogleStandIn.PROVIDER)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {'lifetime':'60s'}                                  | INVALID_ARGUMENT
                    {'lifetime':'60s','scope':[]}                       | INVALID_ARGUMENT
                    {'lifetime':'60','scope':['a']}                     | INVALID_ARGUMENT
                    {'lifetime':'3601s','scope':['a']}                  | INVALID_ARGUMENT
                    {'lifetime':'60s','scope':['a'],'delegates':['a@b']}| INVALID_ARGUMENT
                    {'lifetime':'60s','scope':['a'],'life':'60s'}       | INVALID_ARGUMENT
                    {'lifetime':'60s','scope':['a'],'delegates':['projects/-/serviceAccounts/a@b']} | PERMISSION_DENIED
                    """)
    void it_refuses_a_wrong_wish_for_an_accounts_token(String body, String error)
            throws GoogleRefusal {
        assertRefused(error, account(federated(), body));
    }

    @Test
    void it_gives_an_accounts_token_to_a_living_token_and_to_no_other() throws GoogleRefusal {
        String good = "{'lifetime':'60s','scope':['a']}";

        assertTrue(google.answer(account(federated(), good)).contains("accessToken"));
        assertRefused("UNAUTHENTICATED", account("ya29.c.none", good));
        assertRefused(
                "UNAUTHENTICATED",
                new GoogleCall(ACCOUNT, Optional.empty(), Optional.empty(), Orders.json(good)));
    }

    private void assertRefused(String error, GoogleCall call) {
        GoogleRefusal refusal = assertThrows(GoogleRefusal.class, () -> google.answer(call));

        assertTrue(refusal.body().contains(error), refusal::body);
    }

    private String federated() throws GoogleRefusal {
        Matcher answer =
                TOKEN.matcher(google.answer(exchange(token("acme", GoogleStandIn.PROVIDER))));
        assertTrue(answer.find());
        assertEquals(Optional.of("tenant:acme:key:deploy"), google.holder(answer.group()));
        return answer.group();
    }

    private String token(String tenant, String audience) {
        return broker.identity()
                .token(
                        new TokenOrder(
                                new TenantName(tenant),
                                new KeyName("deploy"),
                                Orders.MINT_ID,
                                audience,
                                false,
                                Map.of()))
                .reveal();
    }

    private static GoogleCall exchange(String token) {
        String body =
                """
                {'grantType':'urn:ietf:params:oauth:grant-type:token-exchange',
                 'requestedTokenType':'urn:ietf:params:oauth:token-type:access_token',
                 'subjectTokenType':'urn:ietf:params:oauth:token-type:jwt',
                 'audience':'%s','scope':'%s','subjectToken':'%s'}
                """
                        .formatted(GoogleStandIn.PROVIDER, GoogleStandIn.CLOUD_PLATFORM, token);
        return new GoogleCall("/v1/token", Optional.empty(), Optional.empty(), Orders.json(body));
    }

    private static GoogleCall account(String bearer, String body) {
        return new GoogleCall(
                ACCOUNT, Optional.of("Bearer " + bearer), Optional.empty(), Orders.json(body));
    }
}
