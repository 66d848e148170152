package io.mintmark.deployment;

import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

/** Clients that mint one time after the other, each through a connection that it keeps. */
final class SteadyClients implements AutoCloseable {
    private static final int CLIENTS = 16;
    private static final int OK = 200;
    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private final Set<String> answered = ConcurrentHashMap.newKeySet();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> clients;
    private volatile boolean done;

    SteadyClients(String url, String token) {
        clients =
                IntStream.range(0, CLIENTS)
                        .mapToObj(client ->
                                Thread.ofVirtual().start(() -> mintOnAndOn(client, url, token)))
                        .toList();
    }

    private void mintOnAndOn(int client, String url, String token) {
        try (HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int number = 0; !done; number++) {
                mint(http, url, token, "client-%d-%d".formatted(client, number));
            }
        }
    }

    private void mint(HttpClient http, String url, String token, String id) {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(url + "/credentials/mint"))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .header("X-Request-ID", id)
                        .POST(BodyPublishers.ofString("{\"keys\":[\"api\"]}"))
                        .build();
        try {
            HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() == OK) {
                answered.add(id);
            } else {
                failures.add(id + ": " + answer.statusCode() + " " + answer.body());
            }
        } catch (IOException e) {
            failures.add(id + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for so many more answers. */
    void awaitMore(int mints) {
        int before = answered.size();
        Eventually.holds(TIMEOUT, () -> answered.size() >= before + mints);
    }

    /** The ids of requests that got credentials. */
    Set<String> answered() {
        return Set.copyOf(answered);
    }

    /** What came instead, for the others. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    @Override
    public void close() {
        finish();
    }

    /** Waits for the answers to what was asked last. */
    void finish() {
        done = true;
        for (Thread client : clients) {
            try {
                client.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
