package io.mintmark.audit.witness;

import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.log.PostgresWitnesses.Newest;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.note.WitnessPolicy.Witness;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TextReply;
import io.mintmark.base.sql.QueryFailed;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** A witness, as one replica asks it to cosign (c2sp.org/tlog-witness). */
final class AskedWitness {
    private static final Logger log = LoggerFactory.getLogger(AskedWitness.class);

    /** The time limit from the DNS lookup to the last byte of the answer. */
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final int LONGEST_ANSWER = 8 << 10;
    private static final String PATH = "/add-checkpoint";
    private static final String SIZE = "text/x.tlog.size";

    /** The maximum difference between the witness's clock and the local clock. */
    private static final Duration SLACK = Duration.ofMinutes(2);

    /** A witness that lacks more checkpoints is asked for its size first. */
    private static final long MOST_LEAVES = 10_000;

    /** The minimum pause between two reads of all leaves, for a witness of unexpected size. */
    private static final Duration REBUILT = Duration.ofHours(1);

    private static final int OK = 200;
    private static final int CONFLICT = 409;
    private static final int UNPROCESSABLE = 422;

    private final Witness witness;
    private final String address;
    private final GuardedHttp http;
    private final Duration timeout;
    private final PostgresWitnesses store;
    private final SeenHistory history;
    private final InstantSource clock;
    private Instant rebuilt = Instant.MIN;
    private String fault = "";

    /** The witness gave no cosignature. The message is the end of a sentence about it. */
    private static final class Unusable extends Exception {
        private static final long serialVersionUID = 1L;

        Unusable(String message) {
            super(message);
        }
    }

    /** The witness has cosigned a tree that the newest one hasn't grown from. */
    private static final class Rewound extends Exception {
        private static final long serialVersionUID = 1L;

        private final long size;

        Rewound(long size) {
            super(
                    "has cosigned a history of this log (%d checkpoints) that the database doesn't have"
                            .formatted(size));
            this.size = size;
        }
    }

    AskedWitness(
            Witness witness,
            GuardedHttp http,
            Duration timeout,
            PostgresWitnesses store,
            SeenHistory history,
            InstantSource clock) {
        this.witness = witness;
        String prefix = witness.url().orElseThrow();
        this.address =
                (prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix) + PATH;
        this.http = http;
        this.timeout = timeout;
        this.store = store;
        this.history = history;
        this.clock = clock;
    }

    String name() {
        return witness.name();
    }

    /**
     * Asks the witness to cosign the newest note, and stores the cosignature. Returns whether the
     * witness cosigned.
     */
    boolean cosigns(Newest newest) {
        try {
            ask(newest);
            recovered();
            return true;
        } catch (Unusable e) {
            failed(String.valueOf(e.getMessage()));
        } catch (OutboundFailure e) {
            failed("gave no cosignature: " + e.getMessage());
        } catch (QueryFailed | IllegalArgumentException e) {
            failed("can't be asked now: " + e.getMessage());
        } catch (Rewound e) {
            rewound(newest, e);
        }
        return false;
    }

    /** Reports that the witness has cosigned another history. The same loss is reported once. */
    private void rewound(Newest newest, Rewound e) {
        if (failed(String.valueOf(e.getMessage()))) {
            try {
                history.rewound(head(newest).origin(), e.size);
            } catch (QueryFailed again) {
                failed("can't be asked now: " + again.getMessage());
            }
        }
    }

    /** Logs what is wrong, unless it was already. Returns whether it wasn't. */
    private boolean failed(String what) {
        boolean isNew = !what.equals(fault);
        if (isNew) {
            log.warn("Witness {} {}", witness.name(), what);
        }
        fault = what;
        return isNew;
    }

    private void recovered() {
        if (!fault.isEmpty()) {
            log.info("Witness {} cosigns again", witness.name());
        }
        fault = "";
    }

    private void ask(Newest newest) throws Unusable, Rewound, OutboundFailure {
        Optional<TreeHash> last = store.last(witness.key().name(), newest.tree());
        TreeHash known =
                last.filter(tree -> newest.size() - tree.size() > MOST_LEAVES)
                        .map(_ -> newest.leaves())
                        .or(() -> last)
                        .orElseGet(TreeHash::new);
        Instant asked = clock.instant();
        TextReply answer = post(known, newest);
        if (answer.status() == CONFLICT) {
            long size = size(answer);
            requireBeginning(size, known, newest);
            known = tree(size, last, newest);
            answer = post(known, newest);
        }
        requireCosigned(answer, known, newest);
        keep(answer.body(), newest, asked);
    }

    /**
     * Requires that the witness's tree is a prefix of the newest tree. A larger tree is an error
     * too, unless another replica sent a newer checkpoint meanwhile.
     */
    private void requireBeginning(long size, TreeHash known, Newest newest)
            throws Unusable, Rewound {
        if (size == newest.size() && size == known.size()) {
            throw new Rewound(size);
        }
        if (size == known.size()) {
            throw new Unusable(
                    "rejects the size %d, although it reported that size".formatted(size));
        }
        if (size > newest.size()) {
            boolean isGrown =
                    store.newest()
                            .filter(now -> now.tree() != newest.tree() || now.size() >= size)
                            .isPresent();
            if (!isGrown) {
                throw new Rewound(size);
            }
            throw new Unusable(
                    "knows a newer checkpoint, which another replica sent; the broker asks again at the next checkpoint");
        }
    }

    private static void requireCosigned(TextReply answer, TreeHash known, Newest newest)
            throws Unusable, Rewound {
        boolean isOther =
                answer.status() == CONFLICT
                        && size(answer) == newest.size()
                        && known.size() == newest.size();
        if (isOther || answer.status() == UNPROCESSABLE) { // a proof is checked before it is sent
            throw new Rewound(known.size());
        }
        if (answer.status() != OK) {
            throw new Unusable("responded with status " + answer.status());
        }
    }

    private TreeHash tree(long size, Optional<TreeHash> last, Newest newest) throws Unusable {
        if (size == newest.size()) {
            return newest.leaves();
        }
        Optional<TreeHash> known = last.filter(tree -> tree.size() == size);
        if (known.isPresent() || size == 0) {
            return known.orElseGet(TreeHash::new);
        }
        Instant now = clock.instant();
        if (rebuilt.isAfter(now.minus(REBUILT))) {
            throw new Unusable(
                    "needs a proof that starts at checkpoint %d. For this proof, the broker must read the whole log, which it does at most once an hour for each witness"
                            .formatted(size));
        }
        rebuilt = now;
        return store.over(newest, 0, size);
    }

    private TextReply post(TreeHash known, Newest newest) throws Unusable, OutboundFailure {
        String body =
                new GrownTree(store, known, newest)
                        .request(head(newest))
                        .orElseThrow(() ->
                                new Unusable(
                                        "isn't asked, because the newest note doesn't match the"
                                                + " checkpoints in the log; run mintmark audit"
                                                + " verify"));
        return http.postText(
                new OutboundRequest(address, "text/plain", new Secret(body), List.of())
                        .answeredWithin(LONGEST_ANSWER),
                timeout);
    }

    private static TreeHead head(Newest newest) {
        return TreeHead.parse(SignedNote.parse(newest.note()).text());
    }

    private static long size(TextReply answer) throws Unusable {
        try {
            if (answer.mediaType().equals(SIZE)) {
                return TreeHead.size(answer.body().strip());
            }
        } catch (IllegalArgumentException e) {
            // no size either
        }
        throw new Unusable(
                "responded with status 409, but without the size of the tree that it has cosigned");
    }

    private void keep(String body, Newest newest, Instant asked) throws Unusable {
        String text = SignedNote.parse(newest.note()).text();
        for (String line : body.lines().toList()) {
            Optional<CosignedNote> signed =
                    parsed(line).filter(it -> it.holds(witness.key(), text));
            if (signed.isPresent()) {
                requireTime(signed.get().at(), asked);
                store.store(newest, witness.key().name(), line);
                return;
            }
        }
        throw new Unusable(
                "responded without a cosignature of this checkpoint by the key "
                        + witness.key().text());
    }

    private static Optional<CosignedNote> parsed(String line) {
        try {
            return Optional.of(CosignedNote.parse(line));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private void requireTime(Instant at, Instant asked) throws Unusable {
        if (at.isBefore(asked.minus(SLACK)) || at.isAfter(clock.instant().plus(SLACK))) {
            throw new Unusable(
                    "cosigned with a time that differs from the broker's by more than two minutes: "
                            + at);
        }
    }
}
