package io.mintmark.console.pages.reviews;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.NaturalOrder;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Who has grants to review: those with most of them due first.
 *
 * @param counted whether these are all; else they are those of the grants that a page reads
 */
record ReviewOwners(List<Owner> owners, boolean counted) {
    static final ReviewOwners NONE = new ReviewOwners(List.of(), true);
    static final int READ = 5_000;
    static final int SHOWN = 50;
    private static final int UNFOLDED = 5;

    private static final String OWNERS =
            """
            SELECT o.owner, count(*) AS grants, count(*) FILTER (WHERE o.due_at < now()) AS due,
                   min(o.due_at) FILTER (WHERE o.due_at < now()) AS since, min(o.due_at) FILTER (WHERE o.due_at >= now()) AS next
              FROM (SELECT n.owner, n.due_at FROM internal.next_review AS n
                     WHERE n.enabled AND (n.tenant = cast(? AS text) OR cast(? AS text) IS NULL) LIMIT ?) AS o
             GROUP BY o.owner
            """;

    /** Owners with most grants due first, then in the order of the next date and of their names. */
    private static final Comparator<Owner> MOST_DUE_FIRST =
            Comparator.comparingLong(Owner::due)
                    .reversed()
                    .thenComparing(owner -> owner.next().orElse(Instant.MAX))
                    .thenComparing(owner -> owner.name().orElse(""), NaturalOrder.NAMES);

    /**
     * An owner.
     *
     * @param name none for grants that nobody owns
     * @param due how many of them are
     * @param since when the oldest of these was due
     * @param next when the first of the others will be
     */
    record Owner(
            Optional<String> name,
            long grants,
            long due,
            Optional<Instant> since,
            Optional<Instant> next) {
        Optional<String> address() {
            return name.map(owner ->
                    "/reviews?show=%s&owner=%s"
                            .formatted(due > 0 ? "due" : "all", Links.encoded(owner)));
        }
    }

    static ReviewOwners of(Connection connection, Optional<String> tenant) throws SQLException {
        String name = tenant.orElse(null);
        List<Owner> owners =
                Query.of(OWNERS, name, name, READ)
                        .list(
                                connection,
                                row ->
                                        new Owner(
                                                Query.text(row, "owner"),
                                                row.getLong("grants"),
                                                row.getLong("due"),
                                                Query.timeIfAny(row, "since"),
                                                Query.timeIfAny(row, "next")))
                        .stream()
                        .sorted(MOST_DUE_FIRST)
                        .toList();
        return new ReviewOwners(owners, owners.stream().mapToLong(Owner::grants).sum() < READ);
    }

    Folded<Owner> shown() {
        return Folded.of(owners.stream().limit(SHOWN).toList(), UNFOLDED);
    }

    /** When the next review is due, if none is now. */
    Optional<Instant> next() {
        return owners.stream()
                .flatMap(owner -> Stream.concat(owner.since().stream(), owner.next().stream()))
                .min(Comparator.naturalOrder());
    }
}
