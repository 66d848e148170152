package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.audit.Kind;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.auditor.reader.PastRow.Table;
import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.reader.RowContinuity.Versions;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof;
import io.mintmark.base.json.JacksonFactories;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The configuration at any revision of its history, sorted on disk, against which mints are proven.
 */
final class PastConfiguration implements MintProof {
    /** Groups of lines. */
    private static final int ROWS = 0;

    private static final int LAST = 1;
    private static final int EVENT_HEADS = 2;
    private static final int CHANGE_HEADS = 3;
    private static final int BLOCKS = 4;
    private static final int ALL_CHANGES = 5;
    private static final int TRANSACTIONS = 6;
    private static final int ARRIVALS = 7;

    /** Fields of a change. */
    private static final int TENANT = 0;

    private static final int TABLE = 2;
    private static final int BEFORE = 4;
    private static final int AFTER = 5;
    private static final int CHANGED_BY = 6;
    private static final int TRANSACTION = 8;

    private static final String BLOCKS_TABLE = "blocked_subject";

    /** Tables that say who approved what. */
    private static final Set<String> APPROVALS =
            Set.of(
                    "access_rule",
                    "access_approver",
                    "access_request",
                    "access_decision",
                    "grant_review");

    private static final ObjectMapper JSON =
            new ObjectMapper(
                    JacksonFactories.factory()
                            .streamReadConstraints(
                                    StreamReadConstraints.builder()
                                            .maxNumberLength(Integer.MAX_VALUE)
                                            .build())
                            .build());

    private final Findings findings;
    private final SortedLines lines;
    private final PastRows rows;
    private final PastBlocks blocks;
    private final RowContinuity continuity;
    private final RecordedApprovals approvals;
    private final SealedStates states;
    private final PastDecision decision;
    private final Cache<Chain, Long> ends =
            Caffeine.newBuilder().maximumSize(CacheBounds.places()).executor(Runnable::run).build();
    private final LateChanges late;
    private @Nullable String tenant;
    private long revision;

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
        this.continuity = new RowContinuity(lines, ALL_CHANGES);
        this.approvals = new RecordedApprovals(findings);
        this.states = new SealedStates(lines, EVENT_HEADS, CHANGE_HEADS);
        this.late = new LateChanges(lines, TRANSACTIONS, ARRIVALS, states);
        this.decision = new PastDecision(rows, blocks, states, late, this::lastRevision);
    }

    @Override
    public void sealed(
            long checkpoint,
            List<Position> events,
            List<Position> changes,
            Optional<Instant> since) {
        try {
            states.add(checkpoint, events, changes, since);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public Runnable change(LogReader.Row row) {
        Long at = row.at();
        if (at == null) {
            return () -> {};
        }
        Versions versions =
                continuity.versions(
                        row,
                        at,
                        String.valueOf(row.fields().get(TABLE)),
                        row.fields().get(BEFORE),
                        row.fields().get(AFTER));
        Optional<RecordedChange> change = parsed(row, at);
        return () -> add(row, at, versions, change);
    }

    private void add(
            LogReader.Row row, long at, Versions versions, Optional<RecordedChange> change) {
        try {
            if (!Objects.equals(tenant, row.chain())) {
                noteLast();
                tenant = row.chain();
            }
            revision = at;
            late.add(row, at);
            versions.forged().ifPresent(findings::wrong);
            for (PlacedLine line : versions.lines()) {
                lines.add(line);
            }
            if (change.isPresent()) {
                add(change.get(), String.valueOf(row.fields().get(AFTER)));
            }
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

    /** A change of a row that decisions on mints or on requests rest on; empty for another. */
    private static Optional<RecordedChange> parsed(LogReader.Row row, long at) {
        String table = String.valueOf(row.fields().get(TABLE));
        String owner = row.fields().get(TENANT);
        boolean mintable =
                Table.of(table).filter(it -> it.isShared() == (owner == null)).isPresent();
        return mintable || APPROVALS.contains(table) || table.equals(BLOCKS_TABLE)
                ? Optional.of(
                        new RecordedChange(
                                owner,
                                at,
                                table,
                                json(row.fields().get(BEFORE)),
                                json(row.fields().get(AFTER)),
                                String.valueOf(row.fields().get(CHANGED_BY)),
                                LateChanges.timeOf(row),
                                String.valueOf(row.fields().get(TRANSACTION))))
                : Optional.empty();
    }

    /**
     * Takes a change.
     *
     * @param text of the row after it
     */
    private void add(RecordedChange change, String text) throws IOException {
        approvals.add(change);
        if (change.table().equals(BLOCKS_TABLE)) {
            blocks.add(change.tenant(), change.revision(), change.before(), change.after());
        } else if (!APPROVALS.contains(change.table())) {
            rows.add(
                    Objects.requireNonNullElse(change.tenant(), PastRows.OF_ALL_TENANTS),
                    change.revision(),
                    Table.of(change.table()).orElseThrow(),
                    change.before(),
                    change.after(),
                    text);
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
        Chain chain = new Chain(LAST, Optional.ofNullable(of));
        Long known = ends.getIfPresent(chain);
        if (known == null) {
            known = lines.at(chain, 0).map(line -> Long.parseLong(line.text())).orElse(0L);
            ends.put(chain, known);
        }
        return known;
    }

    @Override
    public void endOfChanges() {
        try {
            noteLast();
            late.end();
            lines.sort();
            continuity.report(findings);
            late.report(findings);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public Optional<Objection> objection(LogReader.Row row) {
        if (!isRequest(row)) {
            return Optional.empty();
        }
        try {
            return decision.objection(row);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static boolean isRequest(LogReader.Row row) {
        return Kind.REQUESTED.word().equals(EventFields.KIND.in(row.fields()));
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
