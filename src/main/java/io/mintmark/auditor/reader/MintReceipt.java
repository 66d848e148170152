package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.tree.InclusionProof;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.auditor.verify.LogReader.Row;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.tenant.MintId;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What proves one mint to a reader who has nothing of the log but the audit key: the rows of the
 * mint, the changes that made its grant, and for each row its path to the root that a checkpoint
 * signs.
 */
public final class MintReceipt {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();
    private static final HexFormat HEX = HexFormat.of();
    private static final Base64.Encoder BASE64 = Base64.getEncoder();

    /** The time by which a row may be sealed before its own time, because of two clocks. */
    private static final Duration CLOCKS = Duration.ofHours(1);

    private static final String OF_GRANT =
            """
            WHERE c.tenant = ? AND c.revision <= ? AND c.table_name = 'subject_grant'
              AND c.after ->> 'id' = ?
            ORDER BY c.revision DESC LIMIT 1
            """;

    private static final String OF_REQUEST =
            """
            WHERE c.tenant = ? AND c.revision <= ? AND c.operation = 'INSERT'
              AND (c.table_name = 'access_request' AND c.after ->> 'id' = ?
                   OR c.table_name = 'access_decision' AND c.after ->> 'request' = ?)
            ORDER BY c.revision
            """;

    private final PostgresLog log;
    private final Map<Long, Sealed> checkpoints = new LinkedHashMap<>();
    private final List<ProvenRow> rows = new ArrayList<>();
    private Optional<ReceiptNote> note = Optional.empty();

    /** A checkpoint with the leaves of its tree. */
    private record Sealed(SignedCheckpoint signed, Checkpoint content, List<byte[]> leaves) {}

    /**
     * A row that is proven to be sealed, in base64.
     *
     * @param content the hash of the row before and the row's canonical form; SHA-256 of both is
     *     the row's leaf
     * @param checkpoint which of the receipt's, from 0
     * @param path from the leaf to the root
     */
    public record ProvenRow(String content, int checkpoint, List<String> path) {}

    private MintReceipt(PostgresLog log) {
        this.log = log;
    }

    /**
     * The proof of a mint.
     *
     * @throws CommandFailed if the mint isn't in the log, or a row of it can't be proven
     */
    public static MintReceipt of(PostgresLog log, MintId mint) {
        MintReceipt receipt = new MintReceipt(log);
        List<Row> steps = new ArrayList<>();
        log.events(
                "WHERE e.mint_id = '%s' ORDER BY e.step".formatted(mint),
                row -> row,
                (row, _) -> steps.add(row));
        if (steps.isEmpty()) {
            throw new CommandFailed("the audit log has no mint %s".formatted(mint));
        }
        steps.forEach(row -> receipt.add(row, CanonicalForm.EVENT));
        receipt.note =
                ReceiptNote.of(
                        receipt.checkpoints.values().stream().map(Sealed::signed).toList(),
                        log.trees());
        receipt.changes(steps.getFirst())
                .forEach(change -> receipt.add(change, CanonicalForm.CHANGE));
        return receipt;
    }

    public List<ProvenRow> rows() {
        return List.copyOf(rows);
    }

    /** The JWS of each checkpoint that rows refer to. */
    public List<String> checkpoints() {
        return checkpoints.values().stream().map(sealed -> sealed.signed().jws()).toList();
    }

    /** The note about the checkpoints of the mint's own rows, which are the first ones. */
    public Optional<ReceiptNote> note() {
        return note;
    }

    /** The latest change of the mint's grant, and the request and decisions that led to it. */
    private List<Row> changes(Row requested) {
        String grant = EventFields.GRANT_ID.in(requested.fields());
        String tenant = EventFields.TENANT.in(requested.fields());
        String revision = EventFields.GRANT_REVISION.in(requested.fields());
        if (grant == null || revision == null) {
            return List.of();
        }
        long upTo = Long.parseLong(revision);
        List<Row> changes = new ArrayList<>(log.changes(OF_GRANT, tenant, upTo, grant));
        for (Row change : List.copyOf(changes)) {
            requestOf(change)
                    .ifPresent(id -> changes.addAll(log.changes(OF_REQUEST, tenant, upTo, id, id)));
        }
        return changes;
    }

    private static Optional<String> requestOf(Row grant) {
        try {
            String after = String.valueOf(grant.fields().get(5));
            JsonNode row = JSON.readTree(after);
            return Optional.ofNullable(row.path("request_id").textValue());
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private void add(Row row, CanonicalForm form) {
        Function<Checkpoint, List<Position>> heads =
                form == CanonicalForm.EVENT ? Checkpoint::events : Checkpoint::changes;
        Sealed sealed =
                known(row, heads)
                        .or(() -> sealing(Optional.of(time(row).minus(CLOCKS)), row, heads))
                        .or(() -> sealing(Optional.empty(), row, heads))
                        .orElseThrow(() -> unsealed(row));
        checkpoints.putIfAbsent(sealed.signed().number(), sealed);
        byte[] leaf = HEX.parseHex(row.hash());
        int index =
                IntStream.range(0, sealed.leaves().size())
                        .filter(i -> Arrays.equals(sealed.leaves().get(i), leaf))
                        .findFirst()
                        .orElseThrow(() -> unsealed(row));
        rows.add(
                new ProvenRow(
                        content(row, form),
                        List.copyOf(checkpoints.keySet()).indexOf(sealed.signed().number()),
                        InclusionProof.path(sealed.leaves(), index).stream()
                                .map(BASE64::encodeToString)
                                .toList()));
    }

    private static String content(Row row, CanonicalForm form) {
        byte[] previous = HEX.parseHex(row.previous());
        byte[] canonical = form.bytes(row.fields());
        byte[] content = new byte[previous.length + canonical.length];
        System.arraycopy(previous, 0, content, 0, previous.length);
        System.arraycopy(canonical, 0, content, previous.length, canonical.length);
        return BASE64.encodeToString(content);
    }

    private static CommandFailed unsealed(Row row) {
        return new CommandFailed(
                "%s is in no checkpoint's tree. Possible causes: the row isn't sealed yet (retry in a minute), a checkpoint of format 1 sealed the row, or the log was changed (run audit verify)"
                        .formatted(row.name()));
    }

    private static Instant time(Row row) {
        return Instant.EPOCH.plus(Long.parseLong(row.micros()), ChronoUnit.MICROS);
    }

    private Optional<Sealed> known(Row row, Function<Checkpoint, List<Position>> heads) {
        return checkpoints.values().stream()
                .filter(sealed -> has(heads.apply(sealed.content()), row))
                .findFirst();
    }

    /** The first checkpoint, made at this time or later, whose tree contains the row. */
    private Optional<Sealed> sealing(
            Optional<Instant> since, Row row, Function<Checkpoint, List<Position>> heads) {
        return log.firstCheckpoint(
                        since,
                        signed ->
                                signed.unverified()
                                        .filter(it -> has(heads.apply(it), row))
                                        .map(it -> new Sealed(signed, it, List.of())))
                .map(found -> new Sealed(found.signed(), found.content(), leaves(found.content())))
                .filter(MintReceipt::isIntact);
    }

    private static boolean has(List<Position> heads, Row row) {
        Long at = row.at();
        return at != null
                && heads.stream()
                        .anyMatch(head ->
                                head.chain().equals(Optional.ofNullable(row.chain()))
                                        && head.first() > 0
                                        && head.first() <= at
                                        && at <= head.at());
    }

    private static boolean isIntact(Sealed sealed) {
        TreeHash tree = new TreeHash();
        sealed.leaves().forEach(tree::add);
        return sealed.content().root().equals(Optional.of(HEX.formatHex(tree.root())));
    }

    private List<byte[]> leaves(Checkpoint checkpoint) {
        return Stream.of(
                        log.eventRanges(checkpoint.events()),
                        log.changeRanges(checkpoint.changes()))
                .flatMap(List::stream)
                .flatMap(List::stream)
                .map(leaf -> HEX.parseHex(leaf.hash()))
                .toList();
    }
}
