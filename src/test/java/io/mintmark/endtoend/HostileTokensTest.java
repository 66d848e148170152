package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.broker.token.HostileTokens;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/**
 * What nobody signed is refused, and fails nowhere, with a database that can't hold whatever
 * strangers write.
 */
class HostileTokensTest {
    private static final int TOKENS = 300;
    private static final int UNAUTHORIZED = 401;

    /** Where a token is too long for a header or a line, that is said first. */
    private static final Set<Integer> REFUSED = Set.of(400, UNAUTHORIZED, 414);

    @AutoClose private static final World world = new World();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"aud\":\"mintmark\\u0000acme\"",
                "\"aud\":[\"mintmark-acme\",\"\\u0000\"]",
                "\"aud\":\"mintmark-acme\",\"n\":1e-2147483648",
                "\"aud\":\"mintmark-acme\",\"exp\":1e-2147483648",
                "\"aud\":\"mintmark-acme\",\"n\":{\"n\":[1e2147483648]}",
            })
    void an_unsigned_token_is_refused_whatever_it_holds(String claims) {
        String token =
                part("{\"alg\":\"ES256\",\"kid\":\"key-1\"}")
                        + "."
                        + part(
                                "{\"iss\":\"%s\",\"sub\":\"a\",\"iat\":1,%s}"
                                        .formatted(world.issuer().url(), claims))
                        + "."
                        + "A".repeat(86);

        assertEquals(UNAUTHORIZED, world.broker().mint(token, "api").status());
        assertEquals(UNAUTHORIZED, world.broker().keys(token).status());
    }

    private static String part(String json) {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void generated_tokens_are_refused_at_every_door() {
        HostileTokens tokens =
                new HostileTokens(
                        world.issuer().url(), World.AUDIENCE, world.issuer().key().id(), 13);
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < TOKENS; i++) {
            String token = tokens.next().replace("\u0000", "").replace("=", "");
            List<Integer> statuses =
                    List.of(
                            world.broker().mint(token, "api").status(),
                            world.broker().keys(token).status(),
                            world.broker().get("/credentials/keys?token=" + token).status(),
                            inBody(token));
            if (!REFUSED.containsAll(statuses)) {
                problems.add(statuses + " " + token);
            }
        }
        assertEquals(List.of(), problems);
    }

    private static int inBody(String token) {
        return world.broker().post("{\"keys\":[\"api\"],\"oidcToken\":\"" + token + "\"}").status();
    }
}
