package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.outbound.TokenReply.Given;
import io.mintmark.base.outbound.TokenReply.Unfit;
import io.mintmark.base.outbound.TokenReply.Unreadable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

final class TokenReplyTest {
    private static final String T0KEN =
            "'access_token':'t0ken','token_type':'Bearer','expires_in':60";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':60}",
                "{'access_token':'t0ken','token_type':'bearer','expires_in':'60'}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':60,'further':[]}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':60,'error':null}"
            })
    void a_token_with_its_lifetime(String answer) {
        assertEquals(
                new Given(
                        new Secret("t0ken"), Optional.of(Duration.ofSeconds(60)), Optional.empty()),
                reply(200, answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'access_token':'t0ken','token_type':'Bearer'}",
                "{'access_token':'t0ken','token_type':'Bearer','expires_in':null}"
            })
    void a_token_without_lifetime(String answer) {
        assertEquals(
                new Given(new Secret("t0ken"), Optional.empty(), Optional.empty()),
                reply(200, answer));
    }

    @Test
    void a_scope_in_the_characters_of_the_standard() {
        assertEquals(Optional.of("read orders:write"), scope("read orders:write"));
        for (String other : List.of("", "a\\u0022b", "a\\u005cb", "\\u00e9")) {
            assertEquals(Optional.empty(), scope(other), other);
        }
    }

    private static Optional<String> scope(String text) {
        String answer =
                "{'access_token':'t0ken','token_type':'Bearer','scope':'%s'}".formatted(text);
        return assertInstanceOf(Given.class, reply(200, answer)).scope();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    201 | {T0KEN}                                             | status isn't 200
                    200 | {T0KEN,'error':'invalid_grant'}                     | both a token and
                    200 | {'access_token':'t0ken','expires_in':60}            | token_type
                    200 | {'access_token':'t0ken','token_type':'N_A'}         | token_type
                    200 | {T0KEN,'issued_token_type':'urn:ietf:params:oauth:token-type:refresh_token'} | issued_token_type
                    200 | {'access_token':'t0ken','token_type':'Bearer','expires_in':0}     | expires_in
                    200 | {'access_token':'t0ken','token_type':'Bearer','expires_in':-1}    | expires_in
                    200 | {'access_token':'t0ken','token_type':'Bearer','expires_in':1e300} | expires_in
                    200 | {'access_token':'t0ken','token_type':'Bearer','expires_in':true}  | expires_in
                    200 | {'access_token':'t0ken','token_type':'Bearer','expires_in':18446744073709551617} | expires_in
                    200 | {T0KEN,'access_token':'other'}                      | without duplicate
                    200 | {T0KEN}{}                                           | without duplicate
                    200 | {T0KEN,'x':1e999999999}                             | without duplicate
                    200 | [{T0KEN}]                                           | without duplicate
                    200 | {'access_token':'t0ken'                             | without duplicate
                    """)
    void a_token_that_is_not_what_it_should_be_is_known_all_the_same(
            int status, String answer, String why) {
        TokenReply reply = reply(status, answer.replace("T0KEN", T0KEN));

        Unfit unfit = assertInstanceOf(Unfit.class, reply);
        assertEquals(new Secret("t0ken"), unfit.token());
        assertTrue(unfit.why().contains(why), unfit::why);
        assertFalse(reply.toString().contains("t0ken"), reply::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "<html>",
                "{'access_token':'','token_type':'Bearer','expires_in':60}",
                "{'access_token':7,'token_type':'Bearer','expires_in':60}",
                "{'error':'invalid_grant'}"
            })
    void a_success_without_a_token_is_unreadable(String answer) {
        assertInstanceOf(Unreadable.class, reply(200, answer));
    }

    @Test
    void an_error_has_its_code_and_description() {
        assertEquals(
                new Denied(401, Optional.of("invalid_client"), Optional.of("no such client")),
                reply(401, "{'error':'invalid_client','error_description':'no such client'}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "<html>", "{'error':{'code':403}}", "{'error':5}", "{'error':'a b'}"})
    void an_error_of_another_form_has_its_status(String answer) {
        assertEquals(new Denied(503, Optional.empty(), Optional.empty()), reply(503, answer));
    }

    private static TokenReply reply(int status, String answer) {
        byte[] body = answer.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        return TokenReply.of(
                new Reply(
                        status,
                        ServiceAnswer.of(body, new SentSecrets(List.of())),
                        Optional.empty(),
                        false));
    }
}
