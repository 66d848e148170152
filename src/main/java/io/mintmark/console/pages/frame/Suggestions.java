package io.mintmark.console.pages.frame;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Suggestions for a text that matches nothing exactly: names that contain it, ignoring case,
 * prefixes first. Subjects are those of exact grants and of the latest mints and refusals. Each
 * list has one name more than is shown if there are more.
 */
public record Suggestions(List<String> tenants, List<Key> keys, List<String> subjects) {
    private static final int SHOWN = 8;

    /** The maximum number of names that a form's field offers. */
    private static final int PICKED = 100;

    /** The maximum number of grants and keys that are searched. */
    private static final int LOOKED_AT = 5_000;

    /** The maximum number of mints and refusals whose subjects are searched. */
    public static final int LATEST = 200;

    /**
     * Tenant by tenant, along indexes, so that rows of tenants that the viewer can't see cost
     * nothing.
     */
    private static final String KEYS =
            """
            SELECT k.tenant, k.name
              FROM (SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT 200) AS seen
             CROSS JOIN LATERAL (SELECT n.tenant, n.name FROM broker.key AS n
                                  WHERE n.tenant = seen.name ORDER BY n.name LIMIT 1000) AS k
             LIMIT ?
            """;

    private static final String GRANTED =
            """
            SELECT DISTINCT g.subject
              FROM (SELECT e.subject
                      FROM (SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT 200) AS seen
                     CROSS JOIN LATERAL (SELECT n.subject, n.match FROM broker.subject_grant AS n
                                          WHERE n.tenant = seen.name ORDER BY n.tenant, n.key LIMIT 2000) AS e
                     WHERE e.match = 'exact'
                     LIMIT ?) AS g
             WHERE strpos(lower(g.subject), ?) > 0
            """;

    private static final String TENANTS =
            "SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT ?";

    record Key(String tenant, String name) {}

    /** No suggestions. */
    public static final Suggestions NONE = new Suggestions(List.of(), List.of(), List.of());

    /** Names for the fields of a form. */
    public record Picks(List<String> tenants, List<String> keys) {
        /** No choices. */
        public static final Picks NONE = new Picks(List.of(), List.of());
    }

    /**
     * Names of each kind.
     *
     * @param latest subjects of the latest mints and refusals, of which {@link #LATEST} are enough
     */
    public static Suggestions of(Connection connection, String text, List<String> latest)
            throws SQLException {
        String part = text.toLowerCase(Locale.ROOT);
        return new Suggestions(
                nearest(tenants(connection, LOOKED_AT).stream(), Function.identity(), part),
                nearest(keys(connection).stream(), Key::name, part),
                subjects(connection, part, latest));
    }

    /** Keys alone; none if there is a key of exactly this name. */
    public static Suggestions ofKey(Connection connection, String text) throws SQLException {
        List<Key> found =
                nearest(keys(connection).stream(), Key::name, text.toLowerCase(Locale.ROOT));
        return found.stream().anyMatch(key -> key.name().equals(text))
                ? NONE
                : new Suggestions(List.of(), found, List.of());
    }

    /** Tenants alone; none if there is a tenant of exactly this name. */
    public static Suggestions ofTenant(Connection connection, String text) throws SQLException {
        List<String> found =
                nearest(
                        tenants(connection, LOOKED_AT).stream(),
                        Function.identity(),
                        text.toLowerCase(Locale.ROOT));
        return found.contains(text) ? NONE : new Suggestions(found, List.of(), List.of());
    }

    /**
     * Subjects alone.
     *
     * @param latest those of the latest mints and refusals, of which {@link #LATEST} are enough
     */
    public static Suggestions ofSubject(Connection connection, String text, List<String> latest)
            throws SQLException {
        return new Suggestions(
                List.of(), List.of(), subjects(connection, text.toLowerCase(Locale.ROOT), latest));
    }

    /** Names that the viewer may see, so many at most that a browser lists them. */
    public static Picks picks(Connection connection) throws SQLException {
        return new Picks(
                tenants(connection, PICKED),
                keys(connection).stream()
                        .map(Key::name)
                        .distinct()
                        .sorted()
                        .limit(PICKED)
                        .toList());
    }

    private static List<String> tenants(Connection connection, int most) throws SQLException {
        return Query.of(TENANTS, most).list(connection, row -> row.getString("name"));
    }

    private static List<Key> keys(Connection connection) throws SQLException {
        return Query.of(KEYS, LOOKED_AT)
                .list(connection, row -> new Key(row.getString("tenant"), row.getString("name")));
    }

    private static List<String> subjects(Connection connection, String part, List<String> latest)
            throws SQLException {
        List<String> granted =
                Query.of(GRANTED, LOOKED_AT, part)
                        .list(connection, row -> row.getString("subject"));
        return nearest(Stream.concat(granted.stream(), latest.stream()), Function.identity(), part);
    }

    private static <T> List<T> nearest(Stream<T> all, Function<T, String> name, String part) {
        Comparator<T> beginning =
                Comparator.comparing(one -> !lower(name.apply(one)).startsWith(part));
        return all.filter(one -> lower(name.apply(one)).contains(part))
                .distinct()
                .sorted(beginning.thenComparing(name))
                .limit(SHOWN + 1L)
                .toList();
    }

    /** The number of names of a kind: exact, or a bound that is exceeded. */
    public static String count(List<?> names) {
        return names.size() > SHOWN ? "over " + SHOWN : Integer.toString(names.size());
    }

    /** The names of a kind that a page lists. */
    public static <T> List<T> shown(List<T> names) {
        return names.stream().limit(SHOWN).toList();
    }

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** Whether there is nothing to suggest. */
    public boolean isEmpty() {
        return tenants.isEmpty() && keys.isEmpty() && subjects.isEmpty();
    }
}
