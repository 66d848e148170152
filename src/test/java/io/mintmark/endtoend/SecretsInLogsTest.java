package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;
import io.mintmark.base.logging.Logging;
import io.mintmark.broker.identity.IdpStandIn;
import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

class SecretsInLogsTest {

    @Test
    void no_log_at_any_level_shows_a_token_a_credential_or_a_password() {
        List<String> secrets = new ArrayList<>();
        String written =
                logged(() -> {
                    try (World world = new World()) {
                        Logger.getLogger("").setLevel(Level.ALL);
                        useEverything(world, secrets);
                    }
                });
        assertShowsNone(written, secrets);
    }

    @Test
    void no_log_at_any_level_shows_what_the_broker_and_its_identity_provider_tell_each_other() {
        List<String> secrets =
                new ArrayList<>(
                        List.of(
                                IdpStandIn.SECRET,
                                URLEncoder.encode(IdpStandIn.SECRET, StandardCharsets.UTF_8)));
        String written =
                logged(() -> {
                    try (IdpStandIn idp = IdpStandIn.start();
                            World world = new World(clientOf(idp))) {
                        Logger.getLogger("").setLevel(Level.ALL);
                        useIdentity(world, secrets);
                    }
                });
        assertTrue(written.contains("[secret]"), "the refusal wasn't logged");
        assertShowsNone(written, secrets);
    }

    private static String logged(Runnable use) {
        PrintStream usual = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            Logging.install(new LogSettings(LogFormat.JSON, LogLevel.DEBUG));
            Logger.getLogger("").setLevel(Level.ALL);
            use.run();
        } finally {
            System.setErr(usual);
            Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.WARNING));
        }
        return log.toString(StandardCharsets.UTF_8);
    }

    private static void assertShowsNone(String written, List<String> secrets) {
        assertTrue(written.contains("io.mintmark"), "nothing was logged at all");
        for (String secret : secrets) {
            assertFalse(secret.isEmpty());
            assertFalse(written.contains(secret), "the log shows " + secret);
        }
    }

    private static Map<String, String> clientOf(IdpStandIn idp) {
        return Map.of(
                "BROKER_IDP_TYPE",
                "client-credentials",
                "BROKER_IDP_ISSUER",
                idp.url(),
                "BROKER_IDP_CLIENT_ID",
                IdpStandIn.CLIENT,
                "BROKER_IDP_CLIENT_SECRET",
                IdpStandIn.SECRET,
                "BROKER_IDP_CLIENT_AUTH",
                "client_secret_post");
    }

    /** The provider doesn't trust the identity provider, and the identity provider quotes. */
    private static void useIdentity(World world, List<String> secrets) {
        world.admin(
                """
                UPDATE broker.access_provider
                   SET shared_identity = true,
                       allowed_targets = '{arn:aws:iam::123456789012:role/deploy}'
                 WHERE name = 'aws';
                """);
        Eventually.holds(() -> world.broker().get("/health").status() == 200);
        assertEquals(500, world.broker().mint(world.token(), "deploy").status());
        world.sts()
                .calls()
                .forEach(call -> call.parameter("WebIdentityToken").ifPresent(secrets::add));
        assertEquals(3, secrets.size());
        try (IdpStandIn strict = IdpStandIn.start()) {
            strict.always(
                    400,
                    "{\"error\":\"invalid_client\",\"error_description\":\"not %s\"}"
                            .formatted(IdpStandIn.SECRET));
            try (World other = new World(clientOf(strict))) {
                Logger.getLogger("").setLevel(Level.ALL);
                Eventually.holds(() -> !strict.requests().isEmpty());
                assertEquals(503, other.broker().get("/health").status());
            }
        }
    }

    private static void useEverything(World world, List<String> secrets) {
        String token = world.token();
        String forged = token.substring(0, token.length() - 6) + "AAAAAA";
        secrets.add(token.substring(token.lastIndexOf('.') + 1));
        secrets.add(token.substring(0, token.lastIndexOf('.')));
        secrets.add(world.database().password());
        Answer minted = world.broker().mint(token, "deploy", "api");
        assertEquals(200, minted.status(), minted.toString());
        minted.body()
                .path("credentials")
                .forEach(credential ->
                        credential
                                .properties()
                                .forEach(member -> {
                                    if (isSecret(member.getKey())) {
                                        secrets.add(member.getValue().asText());
                                    }
                                }));
        assertEquals(6, secrets.size());
        assertEquals(401, world.broker().mint(forged, "api").status());
        assertEquals(401, world.broker().mint("garbage." + token, "api").status());
        world.broker().get("/credentials/keys?token=" + token);
        world.sts().next(new StsAnswer.QuotingTheToken());
        assertEquals(500, world.broker().mint(token, "deploy").status());
        world.sts()
                .calls()
                .forEach(call -> call.parameter("WebIdentityToken").ifPresent(secrets::add));
    }

    private static boolean isSecret(String member) {
        return member.endsWith("SECRET_ACCESS_KEY")
                || member.endsWith("SESSION_TOKEN")
                || member.equals("ACCESS_TOKEN");
    }
}
