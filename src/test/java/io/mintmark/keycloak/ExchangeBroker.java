package io.mintmark.keycloak;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** A broker whose tenant has keys of access providers of type {@code oauth2}. */
final class ExchangeBroker implements AutoCloseable {
    private final World world;

    /**
     * @param secrets an empty directory
     */
    ExchangeBroker(Path secrets, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("SECRETS_DIR", secrets.toString());
        world = new World(all);
        try {
            Files.createDirectory(secrets.resolve("acme"));
            Files.writeString(secrets.resolve("acme/mintmark"), "mintmark-secret\n");
            Files.writeString(secrets.resolve("acme/stranger"), "stranger-secret\n");
            Files.writeString(secrets.resolve("acme/wrong"), "wrong-secret\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RunningBroker running() {
        return world.broker();
    }

    String jwks() {
        return world.broker().url() + "/.well-known/jwks.json";
    }

    /**
     * An access provider that exchanges tokens at a realm.
     *
     * @param name with {@code shared}, its keys aim at the client {@code api}
     */
    void provider(String name, KeycloakRealm realm, boolean shared, String settings) {
        world.admin(
                """
                INSERT INTO broker.access_provider
                       (tenant, name, type, settings, shared_identity, allowed_targets)
                VALUES ('acme', '%s', 'oauth2', '{"token_endpoint": "%s", %s}', %s, '%s')
                """
                        .formatted(
                                name,
                                realm.tokenEndpoint(),
                                settings,
                                shared,
                                shared ? "{api,nowhere}" : "{**}"));
    }

    /** A key that the usual subject may mint. */
    void key(String name, String provider, int maxDuration, String settings) {
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', '%1$s', '%2$s', %3$d, '%4$s');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', '%1$s');
                """
                        .formatted(name, provider, maxDuration, settings));
    }

    Answer mint(String key) {
        return world.broker().mint(world.token(), key);
    }

    /** A key's access token, where there must be one. */
    String minted(String key) {
        Answer answer = mint(key);
        if (answer.status() != 200) {
            throw new AssertionError(answer + " " + outcome(key));
        }
        return answer.at("/credentials/%s/ACCESS_TOKEN".formatted(key));
    }

    /** How the last mint of a key ended, as the audit log has it, without the server's address. */
    String outcome(String key) {
        return world.value(
                "SELECT concat_ws(' ', kind, reason, regexp_replace(detail, ' \\(http://.*', ''))"
                        + " FROM audit.event WHERE step = 2 AND key = '"
                        + key
                        + "' ORDER BY mint_id DESC LIMIT 1");
    }

    @Override
    public void close() {
        world.close();
    }
}
