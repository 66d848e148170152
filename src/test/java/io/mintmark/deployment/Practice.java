package io.mintmark.deployment;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/** Requests of every kind, as clients send them: mints first of all, and some refusals. */
final class Practice {
    private static final int CLIENTS = 8;
    private static final int OK = 200;
    private static final int SERVER_ERROR = 500;

    private final Site.Ports ports;
    private final String token;

    Practice(Site.Ports ports, String token) {
        this.ports = ports;
        this.token = token;
    }

    private List<HttpRequest> requests() {
        return List.of(
                mint("{\"keys\":[\"deploy\"]}"),
                mint("{\"keys\":[\"deploy\",\"api\"]}"),
                mint("{\"keys\":[\"spare\"]}"),
                to("/credentials/keys").header("Authorization", "Bearer " + token).build(),
                to("/credentials/keys").header("Authorization", "Bearer " + token + "x").build(),
                to("/credentials/idp-providers").build(),
                to("/sdk/aws/deploy").header("Authorization", token).build(),
                exchange(),
                to("/health").build(),
                to("/.well-known/openid-configuration").build(),
                operators("/observe/health/ready"),
                operators("/observe/metrics"));
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(ports.url() + path));
    }

    private HttpRequest operators(String path) {
        return HttpRequest.newBuilder(
                        URI.create("http://localhost:%d%s".formatted(ports.admin(), path)))
                .build();
    }

    private HttpRequest mint(String body) {
        return to("/credentials/mint")
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    private HttpRequest exchange() {
        return to("/oauth2/token")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(
                        BodyPublishers.ofString(
                                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
                                        + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt"
                                        + "&audience=api&subject_token="
                                        + token))
                .build();
    }

    /** Sends all of them so many times, several clients at once. */
    void run(int rounds) {
        send(requests(), rounds, Practice::isAnswered);
    }

    /** Mints so many times. Fails with the first answer that has no credentials. */
    void mint(int times) {
        send(requests().subList(0, 1), times, Practice::isMinted);
    }

    private static boolean isMinted(int status) {
        return status == OK;
    }

    private static boolean isAnswered(int status) {
        return status < SERVER_ERROR;
    }

    private static void send(List<HttpRequest> requests, int rounds, IntPredicate expected) {
        AtomicInteger left = new AtomicInteger(rounds);
        try (HttpClient http =
                        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<Void> client =
                    () -> {
                        while (left.getAndDecrement() > 0) {
                            for (HttpRequest request : requests) {
                                send(http, request, expected);
                            }
                        }
                        return null;
                    };
            for (Future<Void> done : clients.invokeAll(Collections.nCopies(CLIENTS, client))) {
                done.get();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(HttpClient http, HttpRequest request, IntPredicate expected)
            throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
        if (!expected.test(answer.statusCode())) {
            throw new IllegalStateException(
                    "%s: %d %s".formatted(request, answer.statusCode(), answer.body()));
        }
    }
}
