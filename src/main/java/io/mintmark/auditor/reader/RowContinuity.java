package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.canonical.ExportedLine.Form;
import io.mintmark.audit.canonical.ExportedLine.Value;
import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Checks that each change starts from its row as the change before it left it. Otherwise the row
 * was changed without a record in between, and the next recorded change would make that look
 * granted.
 */
final class RowContinuity {
    /** The columns that identify a row, beside the tenant. */
    static final Map<String, List<String>> IDENTITIES =
            Map.ofEntries(
                    Map.entry("tenant", List.of("name")),
                    Map.entry("tenant_admin", List.of("role_name")),
                    Map.entry("shared_issuer", List.of("issuer")),
                    Map.entry("identity_provider", List.of("name")),
                    Map.entry("provider_type", List.of("type")),
                    Map.entry("known_issuer", List.of("issuer_pattern")),
                    Map.entry("access_provider", List.of("name")),
                    Map.entry("key", List.of("name")),
                    Map.entry("subject_grant", List.of("id")),
                    Map.entry("blocked_subject", List.of("id")),
                    Map.entry("grant_review", List.of("id")),
                    Map.entry("ended_credential", List.of("mint_id")),
                    Map.entry("console_access", List.of("id")),
                    Map.entry("access_rule", List.of("id")),
                    Map.entry("access_approver", List.of("id")),
                    Map.entry("access_request", List.of("id")),
                    Map.entry("access_decision", List.of("id")),
                    Map.entry("role_member", List.of("role_name", "member")));

    /** Tables without tenant, whose rows apply to all tenants. */
    private static final Set<String> SHARED =
            Set.of("shared_issuer", "provider_type", "known_issuer", "role_member");

    private static final CanonicalForm ROW = new CanonicalForm("row");
    private static final String NONE = "-";
    private static final int LONGEST_NAME = 100;

    private final SortedLines lines;
    private final int group;

    /**
     * A state of a row, as a change records it: the row's table and name, and a digest of its
     * content.
     */
    private record Version(Chain chain, String name, String content, Optional<Owner> owner) {}

    /** The tenant that a row names, and the number or mint that it is known by for ever. */
    private record Owner(@Nullable String tenant, String id) {}

    /**
     * A change.
     *
     * @param forged why its row is not one of its history; empty if it is
     */
    record Versions(List<PlacedLine> lines, Optional<String> forged) {}

    /**
     * @param lines where the changes are sorted
     * @param group of lines that is for them
     */
    RowContinuity(SortedLines lines, int group) {
        this.lines = lines;
        this.group = group;
    }

    /** A change of any table, which may be asked for on any thread. */
    Versions versions(LogReader.Row row, long revision, String table, @Nullable String... sides) {
        List<PlacedLine> found = new ArrayList<>();
        List<Optional<Version>> versions =
                Arrays.stream(sides).map(text -> version(row.chain(), table, text)).toList();
        Optional<Version> before = versions.getFirst();
        Optional<Version> after = versions.getLast();
        boolean stays = before.map(Version::chain).equals(after.map(Version::chain));
        if (before.isPresent()) {
            String left = stays ? after.map(Version::content).orElse(NONE) : NONE;
            found.add(line(row, revision, before.get(), before.get().content(), left));
        }
        if (after.isPresent() && !stays) {
            found.add(line(row, revision, after.get(), NONE, after.get().content()));
        }
        return new Versions(
                found,
                forged(row.chain(), table, before, after)
                        .map(why ->
                                "forged_%s of %s at change %d: %s"
                                        .formatted(
                                                table,
                                                row.chain() == null
                                                        ? "the tables without tenant"
                                                        : "tenant " + row.chain(),
                                                revision,
                                                why)));
    }

    private static Optional<String> forged(
            @Nullable String tenant,
            String table,
            Optional<Version> before,
            Optional<Version> after) {
        if (!IDENTITIES.containsKey(table)) {
            return Optional.empty();
        }
        List<Owner> owners =
                Stream.of(before, after)
                        .flatMap(version -> version.flatMap(Version::owner).stream())
                        .toList();
        for (Owner owner : owners) {
            if (!SHARED.contains(table) && !Objects.equals(owner.tenant(), tenant)) {
                return Optional.of(
                        "its row belongs to "
                                + (owner.tenant() == null
                                        ? "no tenant"
                                        : "tenant " + owner.tenant()));
            }
        }
        return owners.stream().map(Owner::id).distinct().count() < 2
                ? Optional.empty()
                : Optional.of(
                        "its row was %s %s before, but the number of a row never changes"
                                .formatted(table, owners.getFirst().id()));
    }

    private static Owner owner(String table, ExportedLine row) {
        List<String> identity = IDENTITIES.getOrDefault(table, List.of());
        boolean isNumbered = identity.equals(List.of("id")) || identity.equals(List.of("mint_id"));
        return new Owner(
                row.text(table.equals("tenant") ? "name" : "tenant"),
                isNumbered ? row.value(identity.getFirst()).text() : "");
    }

    private static PlacedLine line(
            LogReader.Row row, long revision, Version of, String found, String left) {
        String text = String.join("\n", found, left, row.name(), of.name());
        return new PlacedLine(of.chain(), revision, "", text);
    }

    private Optional<Version> version(
            @Nullable String tenant, String table, @Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        Optional<ExportedLine> row = ExportedLine.parse(text);
        List<@Nullable String> identity = new ArrayList<>();
        for (String column : IDENTITIES.getOrDefault(table, List.of())) {
            identity.add(row.map(it -> it.value(column).text()).orElse(text));
        }
        String content = row.map(it -> content(it)).orElse(text);
        List<@Nullable String> place = new ArrayList<>(List.of(table));
        place.add(tenant);
        place.addAll(identity.isEmpty() ? List.of(content) : identity);
        String name = table + " " + String.join(" ", identity);
        return Optional.of(
                new Version(
                        new Chain(group, Optional.of(ROW.hash(place))),
                        name.substring(0, Math.min(name.length(), LONGEST_NAME)),
                        ROW.hash(List.of(content)),
                        row.map(it -> owner(table, it))));
    }

    /**
     * The columns by name, without those that are null, because older changes lack columns that
     * were added later.
     */
    private static String content(ExportedLine row) {
        Map<String, String> columns = new TreeMap<>();
        for (String column : row.names()) {
            Value value = row.value(column);
            if (value.form() != Form.NULL) {
                columns.put(column, value.form() + value.text());
            }
        }
        List<@Nullable String> texts = new ArrayList<>();
        columns.forEach((column, value) -> texts.addAll(List.of(column, value)));
        return ROW.hash(texts);
    }

    /** Reports interruptions of rows' histories. Call this when the lines are sorted. */
    void report(Findings findings) throws IOException {
        lines.each(group, new Walk(findings)::next);
    }

    /** The changes of one row after the other, in the order of their revisions. */
    private static final class Walk {
        private final Findings findings;
        private @Nullable Chain chain;
        private String left = NONE;
        private long revision;

        private Walk(Findings findings) {
            this.findings = findings;
        }

        private void next(PlacedLine line) {
            if (!Objects.equals(chain, line.place().chain())) {
                chain = line.place().chain();
                left = NONE;
            }
            String[] parts = line.text().split("\n", 4);
            if (!parts[0].equals(left)) {
                findings.wrong("%s %s".formatted(parts[2], why(parts[0], parts[3])));
            }
            left = parts[1];
            revision = line.place().at();
        }

        private String why(String found, String row) {
            if (found.equals(NONE)) {
                return "inserts %s, which has existed since change %d: the row was deleted without a recorded change"
                        .formatted(row, revision);
            }
            return left.equals(NONE)
                    ? "found %s, which no earlier change inserted: the row was inserted without a recorded change"
                            .formatted(row)
                    : "didn't find %s as change %d had left it: the row was changed without a recorded change"
                            .formatted(row, revision);
        }
    }
}
