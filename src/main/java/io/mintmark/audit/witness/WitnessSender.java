package io.mintmark.audit.witness;

import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.log.PostgresWitnesses.Newest;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Asks the witnesses of the policy to cosign the newest note, after this replica has sealed. All of
 * them are asked at once, for the same note, so that their cosignatures can be a quorum. Of all
 * replicas, one asks in a minute.
 */
public final class WitnessSender implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WitnessSender.class);
    private static final Duration TICK = Duration.ofSeconds(1);

    /**
     * The pause after another replica had this minute's turn, or after the database was
     * unavailable.
     */
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final WitnessPolicy policy;
    private final PostgresWitnesses store;
    private final List<AskedWitness> witnesses;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.WITNESSES, TICK, this::tick);
    private volatile boolean sealed;
    private boolean failing;

    /**
     * @param http to witnesses that the operator named
     * @param history takes what witnesses know and the database doesn't have
     * @param clock this machine's
     */
    public WitnessSender(
            WitnessPolicy policy,
            GuardedHttp http,
            PostgresWitnesses store,
            SeenHistory history,
            InstantSource clock) {
        this(policy, http, AskedWitness.TIMEOUT, store, history, clock);
    }

    /**
     * @param timeout of a request
     */
    WitnessSender(
            WitnessPolicy policy,
            GuardedHttp http,
            Duration timeout,
            PostgresWitnesses store,
            SeenHistory history,
            InstantSource clock) {
        this.policy = policy;
        this.store = store;
        this.witnesses =
                policy.witnesses().stream()
                        .filter(witness -> witness.url().isPresent())
                        .map(witness ->
                                new AskedWitness(witness, http, timeout, store, history, clock))
                        .toList();
    }

    /** Asks from now on. */
    public WitnessSender start() {
        log.info(
                "Checkpoints are sent to the witnesses {}",
                String.join(", ", witnesses.stream().map(AskedWitness::name).toList()));
        var _ = thread.start();
        return this;
    }

    /** Notes that this replica has stored a checkpoint. Doesn't wait. */
    public void sealed() {
        sealed = true;
    }

    private Duration tick() {
        if (!sealed) {
            return TICK;
        }
        sealed = false;
        if (round()) {
            return TICK;
        }
        sealed = true;
        return RETRY;
    }

    /** Asks all witnesses, if it is this replica's turn. Returns whether it was. */
    boolean round() {
        try {
            if (!store.claim()) {
                return false;
            }
            store.newest().ifPresent(this::ask);
            failing = false;
            return true;
        } catch (RuntimeException e) {
            if (!failing) {
                log.warn(
                        "Checkpoints can't be sent to witnesses now; the broker keeps"
                                + " retrying",
                        e);
            }
            failing = true;
            return false;
        }
    }

    private void ask(Newest newest) {
        Set<String> cosigned = ConcurrentHashMap.newKeySet();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            witnesses.forEach(witness ->
                    threads.execute(() -> {
                        if (witness.cosigns(newest)) {
                            cosigned.add(witness.name());
                        }
                    }));
        }
        if (policy.isMet(cosigned)) {
            store.witnessed(newest);
        }
    }

    @Override
    public void close() {
        thread.stop();
    }
}
