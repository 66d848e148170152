package io.mintmark.postgres.verify;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;

import io.mintmark.audit.CanonicalForm;
import io.mintmark.audit.Checkpoint.Position;
import io.mintmark.audit.Findings;
import io.mintmark.audit.Kind;
import io.mintmark.audit.LogReader;
import io.mintmark.audit.MintProof;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.canonical.EventFields;
import io.mintmark.postgres.verify.PastDecision.Objection;
import io.mintmark.postgres.verify.PastRow.Table;
import io.mintmark.postgres.verify.PlacedLine.Chain;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The configuration at any revision of its history, sorted on disk, against which mints are proven.
 */
final class PastConfiguration implements MintProof {
    /** The maximum number of mints whose other row is still expected. */
    private static final int MOST = 10_000;

    /**
     * Outcomes that are remembered until their request comes: as many as {@code OpenMints} does.
     */
    private static final int MOST_EARLY = 100_000;

    /** Groups of lines. */
    private static final int ROWS = 0;

    private static final int LAST = 1;
    private static final int EVENT_HEADS = 2;
    private static final int CHANGE_HEADS = 3;
    private static final int BLOCKS = 4;

    /** Fields of a change. */
    private static final int TENANT = 0;

    private static final int TABLE = 2;
    private static final int BEFORE = 4;
    private static final int AFTER = 5;

    /** Reasons of a mint that failed before its provider was called. */
    private static final Set<String> NOT_CALLED = Set.of("decided_again", "audit_unavailable");

    private static final ObjectMapper JSON =
            new ObjectMapper(
                    JsonFactory.builder()
                            .streamReadConstraints(
                                    StreamReadConstraints.builder()
                                            .maxNumberLength(Integer.MAX_VALUE)
                                            .build())
                            .build());

    private final Findings findings;
    private final SortedLines lines;
    private final PastRows rows;
    private final PastBlocks blocks;
    private final SealedStates states;
    private final PastDecision decision;
    private final Map<String, Objection> doubted = new LinkedHashMap<>();
    private final Set<String> notCalled = new HashSet<>();
    private @Nullable String tenant;
    private long revision;
    private boolean sorted;
    private long ofFirstForm;

    /**
     * @throws StoreUnreachable if its files can't be written
     */
    PastConfiguration(Findings findings) {
        this.findings = findings;
        try {
            this.lines = new SortedLines();
        } catch (IOException e) {
            throw failed(e);
        }
        this.rows = new PastRows(lines, ROWS);
        this.blocks = new PastBlocks(lines, BLOCKS);
        this.states = new SealedStates(lines, EVENT_HEADS, CHANGE_HEADS);
        this.decision = new PastDecision(rows, blocks, states, this::lastRevision);
    }

    @Override
    public void sealed(long checkpoint, List<Position> events, List<Position> changes) {
        try {
            states.add(checkpoint, events, changes);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public void change(LogReader.Row row) {
        Long at = row.at();
        if (at == null) {
            return;
        }
        try {
            if (!Objects.equals(tenant, row.chain())) {
                noteLast();
                tenant = row.chain();
            }
            revision = at;
            add(row, at);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private void noteLast() throws IOException {
        if (revision > 0) {
            String end = Long.toString(revision);
            lines.add(new PlacedLine(new Chain(LAST, Optional.ofNullable(tenant)), 0, "", end));
        }
    }

    private void add(LogReader.Row row, long at) throws IOException {
        String table = String.valueOf(row.fields().get(TABLE));
        String owner = row.fields().get(TENANT);
        Optional<Table> known = Table.of(table);
        boolean block = table.equals("blocked_subject");
        if (block || known.filter(it -> it.isShared() == (owner == null)).isPresent()) {
            String text = row.fields().get(AFTER);
            JsonNode before = json(row.fields().get(BEFORE));
            JsonNode after = json(text);
            if (block) {
                blocks.add(owner, at, before, after);
            } else {
                rows.add(
                        Objects.requireNonNullElse(owner, PastRows.OF_ALL_TENANTS),
                        at,
                        known.orElseThrow(),
                        before,
                        after,
                        String.valueOf(text));
            }
        }
    }

    private static JsonNode json(@Nullable String text) {
        try {
            return text == null ? MissingNode.getInstance() : JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /** The end of a tenant's history; 0 where there is none. */
    private long lastRevision(@Nullable String of) throws IOException {
        return lines.at(new Chain(LAST, Optional.ofNullable(of)), 0)
                .map(line -> Long.parseLong(line.text()))
                .orElse(0L);
    }

    @Override
    public void event(LogReader.Row row, boolean isEarly) {
        String kind = EventFields.KIND.in(row.fields());
        String mint = EventFields.MINT_ID.in(row.fields());
        if (kind == null || mint == null) {
            return;
        }
        if (kind.equals(Kind.REQUESTED.word())) {
            requested(mint, row);
        } else if (!kind.equals(Kind.ENDED.word())
                && (!doubted.isEmpty() || kind.equals(Kind.FAILED.word()))) {
            outcome(mint, kind, row, isEarly);
        }
    }

    private void requested(String mint, LogReader.Row row) {
        ofFirstForm += CanonicalForm.isFirst(row.chain()) ? 1 : 0;
        Optional<Objection> objection = objection(row);
        if (objection.isPresent() && !notCalled.remove(mint)) {
            if (doubted.size() < MOST) {
                doubted.put(mint, objection.get());
            } else {
                findings.ungranted(mint, objection.get().why());
            }
        }
    }

    private Optional<Objection> objection(LogReader.Row row) {
        try {
            if (!sorted) {
                noteLast();
                lines.sort();
                sorted = true;
            }
            return decision.objection(row);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** A mint whose provider wasn't called needs no grant. */
    private void outcome(String mint, String kind, LogReader.Row row, boolean isEarly) {
        String reason = EventFields.REASON.in(row.fields());
        boolean called =
                !(kind.equals(Kind.FAILED.word()) && reason != null && NOT_CALLED.contains(reason));
        Objection objection = doubted.remove(mint);
        if (objection != null && called) {
            findings.ungranted(mint, objection.why());
        } else if (objection == null && isEarly && !called && notCalled.size() < MOST_EARLY) {
            notCalled.add(mint);
        }
    }

    @Override
    public void end(Predicate<String> isOpen) {
        doubted.forEach((mint, objection) -> {
            if (objection.ofState() && isOpen.test(mint)) {
                findings.told(
                        "Mint %s has no outcome, and %s: a broker that stopped before it called the provider leaves such a row"
                                .formatted(mint, objection.why()));
            } else {
                findings.ungranted(mint, objection.why());
            }
        });
        if (ofFirstForm > 0) {
            findings.told(
                    ("%d mints are of chains of form 1, which names neither the revision of the"
                                    + " tables without tenant nor the configuration that was used;"
                                    + " these two aren't proven")
                            .formatted(ofFirstForm));
        }
    }

    private static StoreUnreachable failed(IOException e) {
        return new StoreUnreachable(
                "the history of the configuration can't be sorted on disk: " + e, false, e);
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
