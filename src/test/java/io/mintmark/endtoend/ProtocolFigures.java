package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * What a mint costs by each protocol: {@code mvn test -Dtest=ProtocolFigures}. Requests alternate,
 * so that whatever else the machine does falls on both alike.
 */
class ProtocolFigures {
    private static final int WARM_UP = 300;
    private static final int ROUNDS = 1500;

    @Test
    void a_mint_costs_as_much_by_every_protocol() {
        try (World world = new World()) {
            String token = world.token();
            String form =
                    "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
                            + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt&audience=api"
                            + "&subject_token="
                            + token;
            compare("aws-sts", () -> mint(world, token, "deploy"), () -> sdk(world, token));
            compare("jwt", () -> mint(world, token, "api"), () -> exchange(world, form));
        }
    }

    private static Answer mint(World world, String token, String key) {
        return world.broker().mint(token, key);
    }

    private static Answer sdk(World world, String token) {
        return world.broker().get("/sdk/aws/deploy", "Authorization", token);
    }

    private static Answer exchange(World world, String form) {
        return world.broker()
                .send(
                        world.broker()
                                .request("/oauth2/token")
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(BodyPublishers.ofString(form)));
    }

    private static void compare(
            String type, Supplier<Answer> byInterface, Supplier<Answer> byProtocol) {
        long[] first = new long[ROUNDS];
        long[] second = new long[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            long one = timed(byInterface);
            long other = timed(byProtocol);
            if (round >= 0) {
                first[round] = one;
                second[round] = other;
            }
        }
        long one = median(first);
        long other = median(second);
        System.out.printf("%s: interface %d us, protocol %d us%n", type, one, other);
        assertTrue(other <= one * 1.15, "more than 15 % beyond the interface");
    }

    private static long timed(Supplier<Answer> request) {
        long began = System.nanoTime();
        Answer answer = request.get();
        if (answer.status() != 200) {
            throw new IllegalStateException(answer.toString());
        }
        return (System.nanoTime() - began) / 1000;
    }

    private static long median(long[] all) {
        Arrays.sort(all);
        return all[all.length / 2];
    }
}
