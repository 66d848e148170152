package io.mintmark.console.pages.keys;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A subject that asked for a key.
 *
 * @param actor who acted for the subject
 * @param last when it asked last
 * @param counted whether all requests of the time were read
 */
record KeyUser(
        String subject,
        Optional<String> actor,
        long mints,
        long denials,
        Instant last,
        boolean counted) {
    private static final int READ = 5_000;

    static final int SHOWN = 10;

    private static final String USERS =
            """
            SELECT u.subject, u.actor, u.mints, u.denials, u.last, u.counted
              FROM internal.users_of_key(?, ?, cast(? AS timestamptz), ?, ?) AS u
            """;

    /** The users who requested a key since a time, one more than are shown if there are more. */
    static List<KeyUser> since(Connection connection, String tenant, String key, Instant since)
            throws SQLException {
        return Query.of(USERS, tenant, key, since, READ, SHOWN + 1)
                .list(
                        connection,
                        row ->
                                new KeyUser(
                                        row.getString("subject"),
                                        Query.text(row, "actor"),
                                        row.getLong("mints"),
                                        row.getLong("denials"),
                                        Query.time(row, "last"),
                                        row.getBoolean("counted")));
    }

    /** The users that a page shows. */
    static List<KeyUser> first(List<KeyUser> users) {
        return users.stream().limit(SHOWN).toList();
    }

    /**
     * A number of this user's, or a bound of it; empty for none among the requests that were read.
     */
    String words(long number) {
        return number == 0 && !counted ? "" : Count.of(number, counted).toString();
    }

    /** The URL of this user's mints and denials of a key since a time. */
    String address(String tenant, String key, Instant since) {
        return "/mints?tenant=%s&key=%s&subject=%s%s&from=%s"
                .formatted(
                        Links.encoded(tenant),
                        Links.encoded(key),
                        Links.encoded(subject),
                        actor.map(name -> "&actor=" + Links.encoded(name)).orElse(""),
                        Links.time(since));
    }
}
