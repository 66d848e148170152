package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.SignedJWT;

import io.mintmark.Unchecked;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/** A broker that runs notices what becomes of its directory of signing keys. */
class KeyChangeTest {
    @TempDir Path directory;

    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();

    @Test
    void keys_come_and_go_while_credentials_are_minted() throws Exception {
        PemFiles.p256(directory.resolve("2026-01-01.pem"));
        try (World world = new World(Map.of("BROKER_SIGNING_KEYS_DIR", directory.toString()))) {
            Thread mints = Thread.ofVirtual().start(() -> mintWithoutPause(world));
            Eventually.holds(() -> !world.sts().calls().isEmpty());
            String former = signer(world);

            PemFiles.p256(directory.resolve(today() + ".pem"));
            Eventually.holds(() -> !signer(world).equals(former));
            assertTrue(published(world, "").contains(former), "tokens of it are still alive");

            Files.delete(directory.resolve("2026-01-01.pem"));
            Eventually.holds(() -> !published(world, "").contains(former));
            assertEquals(published(world, ""), published(world, "/tenants/acme"));

            over.set(true);
            mints.join();
            assertEquals(List.of(), failures);

            world.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
            Eventually.holds(() -> world.broker().keys(world.token()).status() == 401);
            assertEquals(
                    published(world, ""),
                    published(world, "/tenants/acme"),
                    "what was signed for it must stay verifiable");
        }
    }

    @Test
    void a_file_that_is_no_key_shows_in_the_metrics_while_the_former_keys_sign() throws Exception {
        PemFiles.p256(directory.resolve("2026-01-01.pem"));
        try (World world = new World(Map.of("BROKER_SIGNING_KEYS_DIR", directory.toString()))) {
            assertTrue(isRefused(world, 0));
            Path garbage = Files.writeString(directory.resolve("2026-01-02.pem"), "garbage");
            Eventually.holds(() -> isRefused(world, 1));
            assertEquals(200, world.broker().mint(world.token(), "api").status());
            Files.delete(garbage);
            Eventually.holds(() -> isRefused(world, 0));
        }
    }

    private static boolean isRefused(World world, int value) {
        URI metrics =
                URI.create(
                        "http://localhost:%d/observe/metrics"
                                .formatted(world.broker().adminPort()));
        Answer scraped =
                world.broker()
                        .send(
                                HttpRequest.newBuilder(metrics)
                                        .header("Accept", RefusedFiles.FORMAT)
                                        .GET());
        return RefusedFiles.isShown(scraped.response().body(), "BROKER_SIGNING_KEYS_DIR", value);
    }

    private void mintWithoutPause(World world) {
        while (!over.get()) {
            Answer answer = world.broker().mint(world.token(), "deploy", "api");
            if (answer.status() != 200) {
                failures.add(answer.toString());
            }
        }
    }

    private static String published(World world, String issuer) {
        Answer answer = world.broker().get(issuer + "/.well-known/jwks.json");
        assertEquals(200, answer.status());
        return answer.response().body();
    }

    /** The key that signed the token that AWS was shown last. */
    private static String signer(World world) {
        String token = world.sts().calls().getLast().parameter("WebIdentityToken").orElseThrow();
        return Unchecked.call(() -> SignedJWT.parse(token).getHeader().getKeyID());
    }

    private static LocalDate today() {
        return LocalDate.now(ZoneOffset.UTC);
    }
}
