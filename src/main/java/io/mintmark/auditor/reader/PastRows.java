package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.auditor.reader.PastRow.Table;
import io.mintmark.auditor.reader.PlacedLine.Chain;

import java.io.IOException;
import java.util.Optional;

/**
 * The rows that tenants had at any revision. They are sorted on disk; what was asked for last is
 * kept, since mints of one time rest on the same rows.
 */
final class PastRows {
    /** The name that stands for the tenant in rows of all tenants. */
    static final String OF_ALL_TENANTS = "";

    /** Characters of a row and of its name; a broker reads no larger one. */
    private static final int LONGEST = 300 * 1024;

    private static final int LONGEST_NAME = 64;

    /** The memory of an entry besides the {@link PastRow#size}, in characters of four bytes. */
    private static final int OVERHEAD = 200;

    private final SortedLines lines;
    private final int group;
    private final Cache<Id, Version> kept =
            Caffeine.newBuilder()
                    .maximumWeight(CacheBounds.characters())
                    .weigher((Id _, Version version) -> version.size() + OVERHEAD)
                    .executor(Runnable::run)
                    .build();

    private record Id(String tenant, Table table, String name) {}

    /** A row at the revisions from one up to another, which is exclusive. */
    private record Version(long from, long until, Optional<PastRow> row) {
        boolean isAt(long revision) {
            return from <= revision && revision < until;
        }

        int size() {
            return row.map(PastRow::size).orElse(0);
        }
    }

    /**
     * @param lines where the rows are sorted
     * @param group of lines that is for them
     */
    PastRows(SortedLines lines, int group) {
        this.lines = lines;
        this.group = group;
    }

    /**
     * The next change of a row.
     *
     * @param before missing where the row wasn't there
     * @param after missing where it isn't there any more
     * @param text of {@code after}
     */
    void add(
            String tenant, long revision, Table table, JsonNode before, JsonNode after, String text)
            throws IOException {
        boolean stays = after.isObject();
        if (stays) {
            add(tenant, revision, table, table.name(after), text);
        }
        if (before.isObject() && !(stays && table.name(before).equals(table.name(after)))) {
            add(tenant, revision, table, table.name(before), "");
        }
    }

    private void add(String tenant, long revision, Table table, String name, String row)
            throws IOException {
        if (name.length() <= LONGEST_NAME) {
            String text = row.length() <= LONGEST ? row : "";
            lines.add(new PlacedLine(chain(new Id(tenant, table, name)), revision, "", text));
        }
    }

    private Chain chain(Id id) {
        return new Chain(
                group, Optional.of("%s/%s/%s".formatted(id.tenant(), id.table(), id.name())));
    }

    /** A row at a revision; empty if it didn't exist then. */
    Optional<PastRow> at(String tenant, long revision, Table table, String name)
            throws IOException {
        Id id = new Id(tenant, table, name);
        Version known = kept.getIfPresent(id);
        if (known != null && known.isAt(revision)) {
            return known.row();
        }
        Version found = read(id, revision);
        kept.put(id, found);
        return found.row();
    }

    private Version read(Id id, long revision) throws IOException {
        SortedLines.Around around = lines.around(chain(id), revision);
        long until = around.after().map(line -> line.place().at()).orElse(Long.MAX_VALUE);
        String text = around.upTo().map(PlacedLine::text).orElse("");
        return new Version(
                around.upTo().map(line -> line.place().at()).orElse(0L),
                until,
                text.isEmpty() ? Optional.empty() : PastRow.of(id.table(), text));
    }
}
