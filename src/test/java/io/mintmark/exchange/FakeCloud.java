package io.mintmark.exchange;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.outbound.Secret;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A cloud that does what the test says, key by key, and remembers what it was asked. */
final class FakeCloud implements AccessProvider {
    private final List<MintOrder> orders = new CopyOnWriteArrayList<>();
    private final Map<String, Function<MintOrder, MintResult>> answers = new ConcurrentHashMap<>();
    private final InstantSource clock;

    FakeCloud(InstantSource clock) {
        this.clock = clock;
    }

    /** What it does for a key; otherwise it gives what is asked for. */
    void answer(String key, Function<MintOrder, MintResult> answer) {
        answers.put(key, answer);
    }

    /** What it was asked for. */
    List<MintOrder> orders() {
        return List.copyOf(orders);
    }

    /** A credential that lives so long. */
    static Minted credential(MintOrder order, Instant until) {
        return new Minted(
                Map.of("Secret", new Secret("s3cret of " + order.key())),
                until,
                "id of " + order.key());
    }

    private MintResult mint(MintOrder order) {
        orders.add(order);
        return answers.getOrDefault(
                        order.key().value(),
                        asked -> credential(asked, clock.instant().plus(asked.duration())))
                .apply(order);
    }

    @Override
    public String type() {
        return "fake";
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of("SECRET", "Secret");
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        return new Prepared(List.of(keySettings.path("target").asText()), false, this::mint);
    }
}
