package io.mintmark.endtoend;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/**
 * Clients of many tenants that go on to {@code details.url} when a tenant has moved, and repeat a
 * request until it is answered with credentials. Until a moving tenant is imported, the new cell
 * doesn't know its tokens and answers 401; any other refusal is a failure.
 */
final class FollowingClients implements AutoCloseable {
    private static final int CLIENTS = 6;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final Map<URI, RunningBroker> brokers;
    private final Function<String, String> tokens;
    private final Map<String, URI> places;
    private final Set<String> moving = ConcurrentHashMap.newKeySet();
    private final Map<String, URI> answered = new ConcurrentHashMap<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> clients;
    private volatile boolean done;

    /**
     * @param places the cell of each tenant
     * @param tokens a tenant's token
     * @param next the number of the tenant that is asked for next, from 1
     */
    FollowingClients(
            Map<URI, RunningBroker> brokers,
            Map<String, URI> places,
            Function<String, String> tokens,
            IntSupplier next) {
        this.brokers = brokers;
        this.places = new ConcurrentHashMap<>(places);
        this.tokens = tokens;
        this.clients =
                IntStream.range(0, CLIENTS)
                        .mapToObj(
                                client -> Thread.ofVirtual().start(() -> mintOnAndOn(client, next)))
                        .toList();
    }

    private void mintOnAndOn(int client, IntSupplier next) {
        for (int number = 0; !done; number++) {
            mint("t" + next.getAsInt(), "client-%d-%d".formatted(client, number));
        }
    }

    private void mint(String tenant, String id) {
        long end = System.nanoTime() + Eventually.PATIENCE.toNanos();
        URI place = Objects.requireNonNull(places.get(tenant));
        while (System.nanoTime() < end) {
            boolean mayBeUnknown = moving.contains(tenant);
            Answer answer;
            try {
                answer =
                        Objects.requireNonNull(brokers.get(place))
                                .post(
                                        "{\"keys\":[\"api\"]}",
                                        "Authorization",
                                        "Bearer " + tokens.apply(tenant),
                                        "X-Request-ID",
                                        id);
            } catch (RuntimeException e) {
                failures.add(id + " of " + tenant + ": " + e);
                return;
            }
            if (answer.status() == 200) {
                answered.put(id, place);
                places.put(tenant, place);
                return;
            }
            if (answer.verdict().startsWith("421 TENANT_MOVED")) {
                place = URI.create(answer.at("/details/url"));
            } else if (answer.status() == 401 && mayBeUnknown) {
                LockSupport.parkNanos(PAUSE.toNanos());
            } else {
                failures.add(id + " of " + tenant + ": " + answer);
                return;
            }
        }
        failures.add(id + " of " + tenant + ": no credentials in time");
    }

    /** Runs a move, during which the new cell may not know the tenant. */
    void whileMoving(String tenant, Runnable move) {
        moving.add(tenant);
        move.run();
        moving.remove(tenant);
    }

    /** Waits for so many more answers. */
    void awaitMore(int mints) {
        int before = answered.size();
        Eventually.holds(() -> answered.size() >= before + mints || !failures.isEmpty());
    }

    /** The cell that answered, by the ids of the requests that got credentials. */
    Map<String, URI> answered() {
        return new TreeMap<>(answered);
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
