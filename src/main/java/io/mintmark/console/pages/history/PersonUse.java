package io.mintmark.console.pages.history;

import io.mintmark.console.pages.approvals.AskedRequest;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.grants.GrantLine;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.MintSearch.Found;
import io.mintmark.console.pages.mints.Repeat;
import io.mintmark.console.pages.mints.Wanted;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a person or program asked for, minted, and may mint, under any of its names.
 *
 * @param asked the newest first, one more than are shown if there are more
 * @param grants in force
 * @param mints the latest mints and refusals, as a subject or as an actor
 * @param repeats of them, by their ids
 */
record PersonUse(
        List<AskedRequest> asked,
        List<GrantLine> grants,
        GrantRequests approvals,
        List<MintLine> mints,
        Map<String, Repeat> repeats) {
    static final int ASKED = 10;
    private static final int GRANTS = 50;
    private static final int MINTS = 10;

    static PersonUse of(Connection connection, List<String> names, Instant now)
            throws SQLException {
        List<GrantLine> grants = new ArrayList<>();
        List<MintLine> mints = new ArrayList<>();
        Map<String, Repeat> repeats = new HashMap<>();
        for (String name : names) {
            grants.addAll(GrantLine.ofSubject(connection, name, GRANTS));
            for (Wanted wanted : List.of(Wanted.ofSubject(name), Wanted.ofActor(name))) {
                Found found = MintSearch.folded(connection, wanted, MINTS, now);
                mints.addAll(found.lines());
                repeats.putAll(found.repeats());
            }
        }
        List<GrantLine> each = grants.stream().distinct().toList();
        return new PersonUse(
                AskedRequest.of(connection, names, ASKED + 1),
                each,
                GrantRequests.of(connection, each.stream().map(GrantLine::grantId).toList()),
                mints.stream()
                        .distinct()
                        .sorted(Comparator.comparing(MintLine::id).reversed())
                        .limit(MINTS)
                        .toList(),
                repeats);
    }

    boolean isEmpty() {
        return asked.isEmpty() && grants.isEmpty() && mints.isEmpty();
    }
}
