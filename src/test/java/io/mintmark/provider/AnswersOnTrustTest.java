package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Processor;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.azure.EntraStandIn;
import io.mintmark.provider.oauth2.TokenExchangeStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;

/** What a token endpoint says is looked at before it counts. */
class AnswersOnTrustTest {
    private static final String TYPE = "urn:ietf:params:oauth:token-type:";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final TokenExchangeStandIn server =
            new TokenExchangeStandIn(
                    MintingBroker.ISSUER,
                    broker.identity()::keySet,
                    TokenExchangeStandIn.Clients.NONE);

    @AutoClose
    private final EntraStandIn entra =
            new EntraStandIn(
                    MintingBroker.ISSUER, broker.identity()::keySet, "tenant:acme:key:deploy");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t','token_type':'Bearer','expires_in':5400}",
                "{'access_token':'t','token_type':'bEARER','expires_in':'5400'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':5400,'issued_token_type':'urn:ietf:params:oauth:token-type:jwt'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':5400,'issued_token_type':'urn:ietf:params:oauth:token-type:access_token','further':[{}]}",
            })
    void a_bearer_token_with_its_lifetime_is_handed_out(String answer) {
        assertTrue(exchanged(answer) instanceof Minted);
        assertTrue(ofEntra(answer) instanceof Minted);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t','token_type':'N_A','expires_in':60}",
                "{'access_token':'t','token_type':'mac','expires_in':60}",
                "{'access_token':'t','token_type':7,'expires_in':60}",
                "{'access_token':'t','token_type':null,'expires_in':60}",
                "{'access_token':'t','expires_in':60}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60,'issued_token_type':'TYPErefresh_token'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60,'issued_token_type':'TYPEid_token'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60,'issued_token_type':''}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60,'issued_token_type':7}",
                "{'access_token':'t\\n','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t\\r\\nX: y','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t\\u0000','token_type':'Bearer','expires_in':60}",
                "{'access_token':'\\u001b[31mt','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t\\u202e','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t\\ud800','token_type':'Bearer','expires_in':60}",
                "{'access_token':'tä','token_type':'Bearer','expires_in':60}",
                "{'access_token':'a b','token_type':'Bearer','expires_in':60}",
                "{'access_token':'','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t','token_type':'Bearer','expires_in':18446744073709551617}",
                "{'access_token':'t','token_type':'Bearer','expires_in':true}",
                "{'access_token':'t','token_type':'Bearer','expires_in':[60]}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60.5}",
                "{'access_token':'t','token_type':'Bearer','expires_in':6e1}",
                "{'access_token':'t','token_type':'Bearer','expires_in':'6e1'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':' 60'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':'-60'}",
                "{'access_token':'t','token_type':'Bearer','expires_in':0}",
                "{'access_token':'t','token_type':'Bearer','expires_in':-1}",
                "{'access_token':'t','token_type':'Bearer','expires_in':null}",
                "{'access_token':'t','token_type':'Bearer'}",
                "{'access_token':'x','access_token':'t','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t','token_type':'Bearer','expires_in':9999999,'expires_in':60}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60}{}",
                "{'access_token':'t','token_type':'Bearer','expires_in':60} x",
                "[{'access_token':'t','token_type':'Bearer','expires_in':60}]",
                "{'access_token':'t','token_type':'Bearer','expires_in':60,'error':'invalid_grant'}",
            })
    void nothing_else_is(String answer) {
        String text = answer.replace("TYPE", TYPE);
        assertFalse(exchanged(text) instanceof Minted);
        assertFalse(ofEntra(text) instanceof Minted);
    }

    @Test
    void a_token_of_over_16_KiB_is_not_handed_out() {
        String answer = "{'access_token':'%s','token_type':'Bearer','expires_in':60}";
        assertTrue(exchanged(answer.formatted("t".repeat(16 << 10))) instanceof Minted);
        assertFalse(exchanged(answer.formatted("t".repeat((16 << 10) + 1))) instanceof Minted);
    }

    @Test
    void an_answer_of_over_64_KiB_is_none() {
        String answer = "{'access_token':'t','token_type':'Bearer','expires_in':60,'x':'%s'}";
        assertTrue(exchanged(answer.formatted("x".repeat(60 << 10))) instanceof Minted);
        assertFalse(exchanged(answer.formatted("x".repeat(64 << 10))) instanceof Minted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"expires_in", "further", "access_token"})
    void a_number_of_many_digits_costs_no_time(String member) {
        String answer = "{'token_type':'Bearer','%s':%s}".formatted(member, "9".repeat(900_000));
        Duration spent = Processor.used();
        assertFalse(exchanged(answer) instanceof Minted);
        assertFalse(ofEntra(answer) instanceof Minted);
        assertTrue(
                Processor.used().minus(spent).compareTo(Duration.ofSeconds(4)) < 0,
                () -> Processor.used().minus(spent).toString());
    }

    private MintResult exchanged(String answer) {
        server.endpoint().next(TokenEndpoint.saying(200, answer));
        return broker.mint(
                Orders.of("oauth2", "{'token_endpoint':'%s'}".formatted(server.url()), "{}"));
    }

    private MintResult ofEntra(String answer) {
        entra.endpoint().next(TokenEndpoint.saying(200, answer));
        return broker.mint(
                Orders.of(
                        "azure",
                        "{'tenant_id':'%s','authority':'%s'}"
                                .formatted(EntraStandIn.DIRECTORY, entra.authority()),
                        "{'client_id':'%s','scope':'https://management.azure.com/.default'}"
                                .formatted(EntraStandIn.APPLICATION)));
    }
}
