package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.cli.Logging;
import io.mintmark.config.LogFormat;
import io.mintmark.config.LogLevel;
import io.mintmark.config.LogSettings;
import io.mintmark.mint.StsAnswer;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

class SecretsInLogsTest {

    @Test
    void no_log_at_any_level_shows_a_token_a_credential_or_a_password() {
        PrintStream usual = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        List<String> secrets = new ArrayList<>();
        try (World world = new World()) {
            Logging.install(new LogSettings(LogFormat.JSON, LogLevel.DEBUG));
            Logger.getLogger("").setLevel(Level.ALL);
            useEverything(world, secrets);
        } finally {
            System.setErr(usual);
            Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.WARNING));
        }
        String written = log.toString(StandardCharsets.UTF_8);
        assertTrue(written.contains("io.mintmark"), "nothing was logged at all");
        for (String secret : secrets) {
            assertFalse(secret.isEmpty());
            assertFalse(written.contains(secret), "the log shows " + secret);
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
