package io.mintmark.provider.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;

class TokenCallsTest {
    private static final InstantSource CLOCK = InstantSource.system();
    private static final String TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl";

    @Test
    void a_token_comes_back_with_its_lifetime() {
        var minted =
                (Minted)
                        ask(
                                200,
                                "{'access_token':'t0ken','token_type':'Bearer','expires_in':60}",
                                _ -> Optional.empty());

        assertEquals(new Secret("t0ken"), minted.fields().get("AccessToken"));
        assertFalse(minted.expiresAt().isAfter(CLOCK.instant().plusSeconds(60)));
    }

    @ParameterizedTest
    @CsvSource({
        "400, invalid_request,         PROVIDER_MISCONFIGURED",
        "400, invalid_scope,           PROVIDER_MISCONFIGURED",
        "400, unsupported_grant_type,  PROVIDER_MISCONFIGURED",
        "400, unsupported_token_type,  PROVIDER_MISCONFIGURED",
        "401, invalid_client,          BROKER_IDENTITY_REJECTED",
        "400, invalid_client,          BROKER_IDENTITY_REJECTED",
        "400, invalid_grant,           BROKER_IDENTITY_REJECTED",
        "401, invalid_token,           BROKER_IDENTITY_REJECTED",
        "400, unauthorized_client,     PROVIDER_REJECTED",
        "401, unauthorized_client,     BROKER_IDENTITY_REJECTED",
        "400, access_denied,           PROVIDER_REJECTED",
        "400, invalid_target,          PROVIDER_REJECTED",
        "400, slow_down,               PROVIDER_THROTTLED",
        "429, invalid_request,         PROVIDER_THROTTLED",
        "500, server_error,            PROVIDER_ERROR",
        "503, temporarily_unavailable, PROVIDER_ERROR",
        "400, something_of_its_own,    PROVIDER_ERROR",
        "403, something_of_its_own,    PROVIDER_REJECTED",
    })
    void every_error_of_the_standards_has_its_reason(int status, String error, Reason reason) {
        Failed failed =
                failed(
                        status,
                        "{'error':'%s','error_description':'no such luck'}".formatted(error));

        assertEquals(reason, failed.reason());
        assertTrue(
                failed.detail()
                        .startsWith("%s: no such luck (HTTP %d) (http://".formatted(error, status)),
                failed.detail());
    }

    @ParameterizedTest
    @CsvSource({
        "400, PROVIDER_ERROR",
        "401, BROKER_IDENTITY_REJECTED",
        "403, PROVIDER_REJECTED",
        "404, PROVIDER_MISCONFIGURED",
        "405, PROVIDER_MISCONFIGURED",
        "415, PROVIDER_MISCONFIGURED",
        "429, PROVIDER_THROTTLED",
        "500, PROVIDER_ERROR",
        "502, PROVIDER_ERROR",
        "503, PROVIDER_ERROR",
    })
    void an_error_that_is_no_oauth_error_has_the_reason_of_its_status(int status, Reason reason) {
        Failed failed = failed(status, "<html>" + TOKEN);

        assertEquals(reason, failed.reason());
        assertTrue(
                failed.detail()
                        .startsWith("no error code: no description (HTTP %d)".formatted(status)),
                failed.detail());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<html>", "{}", "{'error':'invalid_grant'}", "{'access_token':7}"})
    void a_success_without_a_token_is_an_error(String answer) {
        assertEquals(Reason.PROVIDER_ERROR, failed(200, answer).reason());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200|{'access_token':'TOKEN','token_type':'Bearer'}",
                "200|{'access_token':'TOKEN'}",
                "201|{'access_token':'TOKEN','token_type':'Bearer','expires_in':60}",
                "200|{'access_token':'TOKEN','token_type':'Bearer','expires_in':-1}",
                "200|{'access_token':'TOKEN','token_type':'Bearer','expires_in':60}x",
            })
    void a_token_that_is_not_handed_out_is_on_record_by_its_hash(int status, String answer) {
        var withheld =
                (Withheld) ask(status, answer.replace("TOKEN", TOKEN), _ -> Optional.empty());

        assertEquals(HexFormat.of().formatHex(new Secret(TOKEN).hash()), withheld.credentialId());
        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertFalse(withheld.detail().contains("eyJ"), withheld.detail());
    }

    @Test
    void a_server_may_mean_something_of_its_own() {
        Function<Denied, Optional<Reason>> own =
                denied ->
                        denied.description()
                                .filter("AADSTS1"::equals)
                                .map(_ -> Reason.PROVIDER_THROTTLED);

        assertEquals(
                Reason.PROVIDER_THROTTLED,
                failed(ask(400, "{'error':'invalid_grant','error_description':'AADSTS1'}", own))
                        .reason());
        assertEquals(
                Reason.BROKER_IDENTITY_REJECTED,
                failed(ask(400, "{'error':'invalid_grant','error_description':'AADSTS2'}", own))
                        .reason());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400|{'error':'invalid_grant','error_description':'The token TOKEN is bad'}",
                "400|{'error':'TOKEN','error_description':'bad'}",
                "401|TOKEN",
                "200|{'token':'TOKEN'}",
                "200|TOKEN",
                "400|{'access_token':'TOKEN','token_type':'Bearer','expires_in':-1}"
            })
    void nothing_of_a_token_is_told(int status, String answer) {
        Failed failed = failed(status, answer.replace("TOKEN", TOKEN));

        for (String part : TOKEN.split("\\.", -1)) {
            assertFalse(failed.detail().contains(part), failed.detail());
        }
    }

    private static Failed failed(int status, String answer) {
        return failed(ask(status, answer, _ -> Optional.empty()));
    }

    private static Failed failed(MintResult result) {
        return switch (result) {
            case Failed failed -> failed;
            case Minted _, Withheld _, MintResult.NotCalled _ -> throw new AssertionError(result);
        };
    }

    private static MintResult ask(
            int status, String answer, Function<Denied, Optional<Reason>> own) {
        try (var server =
                ScriptedServer.doing(ScriptedServer.saying(status, answer.replace('\'', '"')))) {
            return new TokenCalls(
                            new Calls(
                                    new TenantHttpClients(new Destinations(List.of("127.0.0.1"))),
                                    CLOCK,
                                    new SplittableRandom(1)),
                            CLOCK)
                    .credential(
                            Orders.of("x", "{}", "{}").order(),
                            Endpoint.at(server.url()),
                            () -> new FormBody().with("a", "b").to(server.url()),
                            own,
                            Map.of());
        }
    }
}
