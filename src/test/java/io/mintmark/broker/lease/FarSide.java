package io.mintmark.broker.lease;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.webhook.WebhookType;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A provider at which mints leave something behind, which lists it, and which may be down. */
final class FarSide implements AccessProvider, LeaseRevoker {
    private final Map<MintId, String> made = new ConcurrentHashMap<>();
    private final List<RevocationOrder> orders = new CopyOnWriteArrayList<>();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private volatile Function<RevocationOrder, LeaseRevocation> answer = this::gone;
    private volatile boolean lists = true;

    /** The database's rules are those of a type that it knows. */
    @Override
    public CredentialType type() {
        return new WebhookType();
    }

    @Override
    public Optional<LeaseRevoker> revoker() {
        return Optional.of(this);
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        throw new UnsupportedOperationException("mints are written by hand");
    }

    @Override
    public LeaseRevocation revoke(RevocationOrder order) {
        orders.add(order);
        mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
        try {
            return answer.apply(order);
        } finally {
            atOnce.decrementAndGet();
        }
    }

    @Override
    public List<Left> leftBehind(Place place) throws NotListed {
        if (!lists) {
            throw new NotListed("down");
        }
        return made.entrySet().stream()
                .filter(each -> each.getValue().equals(place.provider().value()))
                .map(each -> new Left(each.getKey(), true))
                .toList();
    }

    private LeaseRevocation gone(RevocationOrder order) {
        made.remove(order.mintId());
        return new LeaseRevocation.Gone("dropped");
    }

    /** Something of a mint is there. */
    void make(MintId mint, String provider) {
        made.put(mint, provider);
    }

    Set<MintId> left() {
        return Set.copyOf(made.keySet());
    }

    /** What it was asked to end, in order. */
    List<RevocationOrder> orders() {
        return new ArrayList<>(orders);
    }

    int mostAtOnce() {
        return mostAtOnce.get();
    }

    void goDown() {
        lists = false;
        answer = _ -> new LeaseRevocation.NotYet(Reason.PROVIDER_UNREACHABLE, "connection refused");
    }

    void comeBack() {
        lists = true;
        answer = this::gone;
    }

    void answer(Function<RevocationOrder, LeaseRevocation> how) {
        answer = how;
    }
}
