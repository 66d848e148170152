package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The keys that realms sign with: of every kind, and changing while clients mint. */
class KeycloakKeysIT {
    private static final List<String> ALGORITHMS =
            List.of(
                    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                    "EdDSA");
    private static final int SOME = 5;

    @AutoClose private static final World world = new World();

    private static void trust(KeycloakRealm realm) {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms)
                VALUES ('%s', 'acme', '%s', '{mintmark-acme}', '{%s}')
                """
                        .formatted(realm.name(), realm.issuer(), String.join(",", ALGORITHMS)));
    }

    private static void grant(KeycloakRealm realm, String token) {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', '%s', '%s', 'api')
                """
                        .formatted(realm.name(), KeycloakRealm.subject(token)));
    }

    /** All tokens are asked for first: Keycloak makes a key when it first needs one. */
    @Test
    void tokens_of_every_algorithm_are_verified() {
        KeycloakRealm realm = Keycloak.started().realm("algorithms", "clients.json");
        trust(realm);
        grant(realm, realm.serviceAccountToken("pipeline"));
        Map<String, String> tokens = new LinkedHashMap<>();
        for (String algorithm : ALGORITHMS) {
            realm.signWith(algorithm);
            tokens.put(algorithm, realm.serviceAccountToken("pipeline"));
        }
        tokens.forEach((algorithm, token) -> {
            assertEquals(algorithm, KeycloakRealm.header(token).getAlgorithm().getName());
            Answer answer = world.broker().mint(token, "api");
            assertEquals(200, answer.status(), algorithm + ": " + answer);
        });
    }

    @Test
    void no_mint_fails_while_a_key_is_added_takes_over_and_is_removed() {
        KeycloakRealm realm = Keycloak.started().realm("rotating", "clients.json");
        trust(realm);
        String old = realm.serviceAccountToken("pipeline");
        grant(realm, old);
        try (Minting minting = new Minting(realm)) {
            assertEquals(KeycloakRealm.header(old).getKeyID(), minting.awaitSome());
            realm.rotate();
            String next = minting.awaitSome();
            assertNotEquals(KeycloakRealm.header(old).getKeyID(), next);
            assertEquals(200, world.broker().mint(old, "api").status());
            realm.removeKeyOf(old);
            assertEquals(next, minting.awaitSome());
            assertEquals(List.of(), minting.refused());
        }
        try (RunningBroker replica = RunningBroker.on(world.database())) {
            assertEquals(
                    "401 UNAUTHORIZED invalid_signature",
                    replica.mint(old, "api").verdict(),
                    "whoever fetches the keys now doesn't know the old one");
        }
    }

    /** A client that mints with one new token after the other. */
    private static final class Minting implements AutoCloseable {
        private final List<String> keyIds = new CopyOnWriteArrayList<>();
        private final List<Answer> answers = new CopyOnWriteArrayList<>();
        private final Thread thread;
        private volatile boolean stopped;

        Minting(KeycloakRealm realm) {
            thread = Thread.ofVirtual().start(() -> run(realm));
        }

        private void run(KeycloakRealm realm) {
            while (!stopped) {
                String token = realm.serviceAccountToken("pipeline");
                answers.add(world.broker().mint(token, "api"));
                keyIds.add(KeycloakRealm.header(token).getKeyID());
            }
        }

        /** Waits for some more mints, and tells which key the last one's token was signed with. */
        String awaitSome() {
            int before = keyIds.size();
            Eventually.holds(() -> keyIds.size() >= before + SOME);
            return keyIds.getLast();
        }

        List<Answer> refused() {
            return answers.stream().filter(answer -> answer.status() != 200).toList();
        }

        @Override
        public void close() {
            stopped = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
