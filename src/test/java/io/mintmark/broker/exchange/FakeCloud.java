package io.mintmark.broker.exchange;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.credential.FakeType;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.UnusableSettingsException;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A cloud that does what the test says, key by key, and remembers what it was asked. */
final class FakeCloud implements AccessProvider {
    private final List<MintOrder> orders = new CopyOnWriteArrayList<>();
    private final Map<String, Function<MintOrder, MintResult>> answers = new ConcurrentHashMap<>();
    private final List<String> prepared = new CopyOnWriteArrayList<>();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final InstantSource clock;
    private volatile Runnable beforeCall = () -> {};
    private volatile boolean isOwn;

    FakeCloud(InstantSource clock) {
        this.clock = clock;
    }

    /** What it does for a key; otherwise it gives what is asked for. */
    void answer(String key, Function<MintOrder, MintResult> answer) {
        answers.put(key, answer);
    }

    /** Happens once for each key: its intent is on record, and the cloud isn't called yet. */
    void beforeFirstCall(Runnable happens) {
        beforeCall = happens;
    }

    /** From now on its credentials are the broker's own work, as those of jwt are. */
    void callsNobody() {
        isOwn = true;
    }

    @Override
    public boolean callsProvider() {
        return !isOwn;
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
    public CredentialType type() {
        return new FakeType(Map.of("SECRET", "Secret"));
    }

    /** Refuses the settings of a key with this target. */
    void refuse(String target) {
        refused.add(target);
    }

    /** The targets of the settings that it has read, in order. */
    List<String> prepared() {
        return List.copyOf(prepared);
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        String target = keySettings.path("target").asText();
        prepared.add(target);
        beforeCall.run();
        if (refused.contains(target)) {
            throw new UnusableSettingsException("key setting 'target' can't work");
        }
        return new Prepared(List.of(target), false, this::mint);
    }
}
