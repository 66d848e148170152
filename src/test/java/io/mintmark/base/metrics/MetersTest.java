package io.mintmark.base.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

final class MetersTest {
    /** Three texts of one hash, so that the map keeps them in one list. */
    private static final String FIRST = "AaAa";

    private static final String SECOND = "BBBB";
    private static final String THIRD = "AaBB";

    @Test
    void a_meter_that_is_there_is_found_while_another_is_made() throws InterruptedException {
        Map<String, Integer> meters = new ConcurrentHashMap<>(Map.of(FIRST, 1));
        meters.put(SECOND, 2);
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        Thread maker =
                Thread.ofVirtual()
                        .start(() ->
                                meters.computeIfAbsent(
                                        THIRD,
                                        _ -> {
                                            making.countDown();
                                            Unchecked.await(found);
                                            return 3;
                                        }));
        making.await();
        assertEquals(2, lookup(meters, SECOND));
        assertEquals(1, lookup(meters, FIRST));
        found.countDown();
        maker.join();
        assertEquals(3, lookup(meters, THIRD));
    }

    private static int lookup(Map<String, Integer> meters, String name) {
        return CompletableFuture.supplyAsync(
                        () -> Meters.known(meters, name, _ -> -1),
                        task -> Thread.ofVirtual().start(task))
                .orTimeout(Eventually.SECONDS, TimeUnit.SECONDS)
                .join();
    }
}
