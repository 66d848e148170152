package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The broker's own tokens are never believed, whatever an admin writes. */
class OwnTokensTest {
    private static final String OTHER =
            Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(
                            "{\"iss\":\"https://nobody.example\"}"
                                    .getBytes(StandardCharsets.UTF_8));

    @AutoClose private final World world = new World();

    @BeforeEach
    void an_admin_trusts_the_broker_itself() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('self', 'acme', '%1$s', '{https://api.example.com}'),
                       ('self-2', 'acme', '%1$s/', '{https://api.example.com}'),
                       ('tenant', 'acme', '%1$s/tenants/acme', '{https://api.example.com}'),
                       ('elsewhere', 'acme', 'https://ci.example.com', '{acme}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'tenant', 'ci:*', 'glob', 'deploy');
                """
                        .formatted(world.broker().url()));
        Eventually.holds(() -> shown().contains("elsewhere"));
    }

    private List<String> shown() {
        return world.broker()
                .get("/credentials/idp-providers")
                .body()
                .at("/providers")
                .findValuesAsText("name");
    }

    @Test
    void a_credential_buys_no_further_one() {
        String credential =
                world.broker().mint(world.token(), "api").at("/credentials/api/ACCESS_TOKEN");
        assertEquals(
                "401 UNAUTHORIZED unknown_issuer",
                world.broker().mint(credential, "deploy").verdict());
    }

    @Test
    void its_issuers_are_not_shown_as_if_they_were_trusted() {
        assertEquals(List.of("ci", "elsewhere"), shown());
        Answer refused =
                world.broker().keys(world.token().replaceFirst("\\.[^.]*\\.", "." + OTHER + "."));
        assertEquals(
                List.of(world.issuer().url(), "https://ci.example.com"),
                refused.texts("/details/configuredIssuers"));
    }

    @Test
    void operators_are_told_once() {
        try (LogBook log = LogBook.open();
                RunningBroker second =
                        RunningBroker.on(
                                world.database(),
                                Map.of("BROKER_URL", world.broker().url().toString()))) {
            for (int i = 0; i < 3; i++) {
                second.get("/credentials/idp-providers");
                world.admin("UPDATE broker.identity_provider SET clock_skew = %d".formatted(i + 1));
            }
            String expected = "The identity provider 'self' is ignored";
            assertEquals(
                    1,
                    Pattern.compile(Pattern.quote(expected)).matcher(log.text()).results().count());
        }
    }
}
