package io.mintmark.broker.catalogue;

/**
 * SQL that returns rows as separate JSON documents, so that an unreadable row doesn't affect the
 * others, and that limits the size of the result whatever the tables contain.
 */
final class BoundedRows {
    /** The largest document of a row, in bytes; the schema's own bounds allow much less. */
    private static final int ROW = 256 * 1024;

    /** All documents of a list, in bytes; what comes after, by name, isn't given. */
    private static final int LIST = 4 * 1024 * 1024;

    private BoundedRows() {}

    /**
     * The text of a row's document; null if it is too large.
     *
     * @param columns the row's columns that can be large: their size on disk is checked before the
     *     document is built
     */
    static String document(String document, String... columns) {
        String stored =
                "coalesce(pg_column_size("
                        + String.join("), 0) + coalesce(pg_column_size(", columns)
                        + "), 0)";
        return "CASE WHEN " + stored + " <= " + ROW + " THEN cast(" + document + " AS text) END";
    }

    /** One row: its name, and its document if that isn't too large. */
    static String row(String name, String document) {
        return "jsonb_build_object('name', "
                + name
                + ", 'row', CASE WHEN octet_length("
                + document
                + ") <= "
                + ROW
                + " THEN "
                + document
                + " END)";
    }

    /**
     * A query of rows: the kind, the name and the document of each.
     *
     * @param from the query that finds them, from its {@code FROM} on
     */
    static String of(String kind, String name, String document, String from) {
        return "SELECT '%s' AS kind, %s AS name, %s AS document %s"
                .formatted(kind, name, document, from);
    }

    /** A query of the rows of several queries, without documents that are too large. */
    static String all(String... queries) {
        // OFFSET: each document is made once
        return """
        SELECT u.kind, u.name,
               CASE WHEN octet_length(u.document) <= %d THEN u.document END AS document
          FROM (SELECT made.kind, made.name, made.document FROM (%s) AS made OFFSET 0) AS u\
        """
                .formatted(ROW, String.join(" UNION ALL ", queries));
    }

    /**
     * An array of rows, in the order of their names.
     *
     * @param from the query that finds them, from its {@code FROM} on
     */
    static String list(String name, String document, String from) {
        return """
        (SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'name', sized.name,
                    'row', CASE WHEN sized.total <= %d THEN sized.document END)
                    ORDER BY sized.name), '[]')
           FROM (SELECT fit.name, fit.document,
                        sum(octet_length(fit.document)) OVER (ORDER BY fit.name) AS total
                   FROM (SELECT made.name, CASE WHEN octet_length(made.document) <= %d
                                                THEN made.document END AS document
                           FROM (SELECT %s AS name, %s AS document %s OFFSET 0) AS made
                         OFFSET 0) AS fit) AS sized)\
        """
                .formatted(LIST, ROW, name, document, from);
    }
}
