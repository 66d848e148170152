package io.mintmark.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.TokenReply.Given;
import io.mintmark.outbound.TokenReply.Unreadable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.Optional;

final class TokenReplyTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t0ken','token_type':'bearer','expires_in':'60'}",
                "{'access_token':'t0ken','token_type':'N_A','expires_in':60,'further':[]}"
            })
    void a_token_with_its_lifetime(String answer) {
        assertEquals(
                new Given(new Secret("t0ken"), Optional.of(Duration.ofSeconds(60))),
                reply(200, answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t0ken','token_type':'Bearer'}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':0}"
            })
    void a_token_without_lifetime(String answer) {
        assertEquals(new Given(new Secret("t0ken"), Optional.empty()), reply(200, answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "<html>",
                "{'access_token':'','token_type':'Bearer','expires_in':60}",
                "{'access_token':7,'token_type':'Bearer','expires_in':60}",
                "{'access_token':'t0ken','expires_in':60}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':-1}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':1e300}",
                "{'error':'invalid_grant'}"
            })
    void a_success_that_is_none_is_unreadable_and_not_quoted(String answer) {
        TokenReply reply = reply(200, answer);
        assertInstanceOf(Unreadable.class, reply);
        assertFalse(reply.toString().contains("t0ken"), reply::toString);
    }

    @Test
    void an_error_has_its_code_and_description() {
        assertEquals(
                new Denied(401, Optional.of("invalid_client"), Optional.of("no such client")),
                reply(401, "{'error':'invalid_client','error_description':'no such client'}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<html>", "{'error':{'code':403}}", "{'error':5}"})
    void an_error_of_another_form_has_its_status(String answer) {
        assertEquals(new Denied(503, Optional.empty(), Optional.empty()), reply(503, answer));
    }

    private static TokenReply reply(int status, String answer) {
        return TokenReply.of(
                new Reply(status, new Secret(answer.replace('\'', '"')), Optional.empty()));
    }
}
