package io.mintmark.broker.http;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a flood from one address costs the others; prints the rows of docs/internals/performance.md.
 * Run by name: {@code mvn test -Dtest=FloodFigures}.
 */
class FloodFigures {
    private static final int REQUESTS = 3_000;
    private static final int FLOODERS = 2;

    private final AtomicInteger neighbour = new AtomicInteger();

    @Test
    void a_flood_from_one_address() throws Exception {
        Map<String, String> settings =
                Map.of(
                        "RATE_LIMIT_ENABLED", "true",
                        "TRUSTED_PROXIES", "127.0.0.1/32,::1/128",
                        "LOG_LEVEL", "warning");
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database, settings)) {
            URI uri = broker.url().resolve("/credentials/idp-providers");
            others(uri);
            List<Double> quiet = others(uri);
            print("alone", quiet);
            AtomicBoolean over = new AtomicBoolean();
            LongAdder refused = new LongAdder();
            List<Thread> flood = new ArrayList<>();
            for (int i = 0; i < FLOODERS; i++) {
                flood.add(Thread.ofPlatform().start(() -> flood(uri, over, refused)));
            }
            long began = System.nanoTime();
            List<Double> flooded = others(uri);
            double seconds = (System.nanoTime() - began) / 1e9;
            over.set(true);
            for (Thread thread : flood) {
                thread.join();
            }
            print(
                    "beside %.0f refused requests a second".formatted(refused.sum() / seconds),
                    flooded);
        }
    }

    /** Requests of many addresses, one after the other; the milliseconds that each took, sorted. */
    private List<Double> others(URI uri) throws Exception {
        List<Double> taken = new ArrayList<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int i = 0; i < REQUESTS; i++) {
                int number = neighbour.incrementAndGet();
                String address = "10.%d.%d.1".formatted(number / 256 % 256, number % 256);
                long began = System.nanoTime();
                int status =
                        client.send(request(uri, address), BodyHandlers.discarding()).statusCode();
                taken.add((System.nanoTime() - began) / 1e6);
                if (status != 200) {
                    throw new AssertionError("status " + status);
                }
            }
        }
        Collections.sort(taken);
        return taken;
    }

    private static void flood(URI uri, AtomicBoolean over, LongAdder refused) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            while (!over.get()) {
                if (client.send(request(uri, "192.0.2.66"), BodyHandlers.discarding()).statusCode()
                        == 429) {
                    refused.increment();
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static HttpRequest request(URI uri, String address) {
        return HttpRequest.newBuilder(uri).header("X-Forwarded-For", address).build();
    }

    private static void print(String what, List<Double> sorted) {
        System.out.printf(
                "| other addresses, %s | median %.2f ms, 99 of 100 within %.2f ms |%n",
                what, sorted.get(sorted.size() / 2), sorted.get(sorted.size() * 99 / 100));
    }
}
