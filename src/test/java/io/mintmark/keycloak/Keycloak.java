package io.mintmark.keycloak;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/** The one Keycloak that all tests of this JVM share; each makes realms of its own in it. */
final class Keycloak {
    /** Where the profile {@code keycloak} of the build unpacked the distribution. */
    private static final String HOME = "keycloak.home";

    private static final String ADMIN = "tests";

    private final URI url = URI.create("http://127.0.0.1:" + RunningBroker.freePort());
    private final Path home;
    private final String adminSecret = UUID.randomUUID().toString();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private KeycloakProcess process;

    private static final class Shared {
        static final Keycloak STARTED = new Keycloak();
    }

    private Keycloak() {
        home =
                Optional.ofNullable(System.getProperty(HOME))
                        .map(Path::of)
                        .orElseThrow(() ->
                                new IllegalStateException("run these with mvn test -Pkeycloak"));
        KeycloakProcess.forget(home);
        process = start();
    }

    /** Starts it the first time, which takes half a minute. */
    static Keycloak started() {
        return Shared.STARTED;
    }

    private KeycloakProcess start() {
        KeycloakProcess started =
                KeycloakProcess.start(
                        home,
                        url,
                        Map.of(
                                "KC_BOOTSTRAP_ADMIN_CLIENT_ID", ADMIN,
                                "KC_BOOTSTRAP_ADMIN_CLIENT_SECRET", adminSecret));
        started.await(this::isReady);
        return started;
    }

    /** Does something while it is down, and has it up again. */
    void downDuring(Runnable action) {
        process.stop();
        try {
            action.run();
        } finally {
            process = start();
        }
    }

    /**
     * Makes a realm.
     *
     * @param file its representation, below {@code src/test/resources/keycloak}, with <code>
     *     ${realm}</code> for the name
     * @param places what else stands in it like that
     */
    KeycloakRealm make(KeycloakRealm realm, String file, Map<String, String> places) {
        String json = resource(file).replace("${realm}", realm.name());
        for (Map.Entry<String, String> place : places.entrySet()) {
            json = json.replace("${" + place.getKey() + "}", place.getValue());
        }
        admin("POST", "/admin/realms", json);
        return realm;
    }

    /** A realm, which no other test may make; it has a name and an issuer before it is made. */
    KeycloakRealm realm(String name) {
        return new KeycloakRealm(this, name);
    }

    /** Makes a realm. */
    KeycloakRealm realm(String name, String file) {
        return make(realm(name), file, Map.of());
    }

    /** The realm that Keycloak itself is administered with. */
    KeycloakRealm master() {
        return new KeycloakRealm(this, "master");
    }

    URI url() {
        return url;
    }

    /** A token of the administrator. */
    String adminToken() {
        return master().serviceAccountToken(ADMIN, adminSecret);
    }

    /** A call of the admin REST API, which must succeed. */
    Answer admin(String method, String path, String json) {
        Answer answer =
                send(
                        HttpRequest.newBuilder(url.resolve(path))
                                .method(method, BodyPublishers.ofString(json))
                                .header("Content-Type", "application/json")
                                .header("Authorization", "Bearer " + adminToken()));
        if (answer.status() / 100 != 2) {
            throw new IllegalStateException(method + " " + path + ": " + answer);
        }
        return answer;
    }

    Answer get(String path) {
        return send(HttpRequest.newBuilder(url.resolve(path)));
    }

    /** Posts a form, as OAuth clients do. */
    Answer form(String path, Map<String, String> parameters) {
        String form =
                parameters.entrySet().stream()
                        .map(p -> encoded(p.getKey()) + "=" + encoded(p.getValue()))
                        .collect(Collectors.joining("&"));
        return send(
                HttpRequest.newBuilder(url.resolve(path))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form)));
    }

    private boolean isReady() {
        try {
            return get("/realms/master").status() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private Answer send(HttpRequest.Builder request) {
        return Unchecked.call(
                () -> new Answer(client.send(request.build(), BodyHandlers.ofString())));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String resource(String file) {
        try (InputStream stream = Keycloak.class.getResourceAsStream("/keycloak/" + file)) {
            if (stream == null) {
                throw new IllegalArgumentException(file);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
