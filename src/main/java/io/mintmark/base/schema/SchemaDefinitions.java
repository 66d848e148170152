package io.mintmark.base.schema;

import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The definitions of what the schemas of a database hold: relations with their columns and
 * constraints, views, functions, policies, triggers, rules and privileges. Monthly partitions of
 * {@code log.event}, which come and go, all have the name {@code log.event_*}; months that were
 * retired, the tables of Flyway, indexes and the types of tables' rows are left out.
 */
final class SchemaDefinitions {
    /**
     * The name of a relation, from the aliases {@code c} of {@code pg_class} and {@code n} of its
     * schema.
     */
    private static final String RELATION =
            "n.nspname || '.' || CASE WHEN "
                    + "n.nspname = 'log' AND c.relname ~ '^event_[0-9]{4}_[0-9]{2}$'"
                    + " THEN 'event_*' ELSE c.relname END";

    private static final String OURS =
            """
            n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work')
               AND NOT (n.nspname = 'runtime' AND c.relname ~ '^flyway_schema_history')
               AND NOT (n.nspname = 'log' AND c.relname ~ '^event_[0-9]{4}_[0-9]{2}' AND NOT c.relispartition)\
            """;

    private static final String COLUMNS =
            """
            (SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), co.collname,
                                         a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)),
                               E'\\n' ORDER BY a.attname)
               FROM pg_attribute AS a
               LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
               LEFT JOIN pg_collation AS co ON co.oid = a.attcollation
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)\
            """;

    /** Counts disabled triggers that enforce references, and tables that inherit from {@code c}. */
    private static final String BESIDE =
            """
            (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgisinternal AND t.tgenabled = 'D'),
            (SELECT count(*) FROM pg_inherits AS i JOIN pg_class AS h ON h.oid = i.inhrelid
              WHERE i.inhparent = c.oid AND NOT h.relispartition)\
            """;

    private static final String RELATIONS =
            """
            SELECT 'relation', %s, concat_ws(E'\\n', c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
                       c.relispartition OR c.relowner = n.nspowner, %s, %s), NULL, NULL
              FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %s AND c.relkind NOT IN ('i', 'I', 't', 'c')
            """
                    .formatted(RELATION, BESIDE, COLUMNS, OURS);

    private static final String CONSTRAINTS =
            """
            SELECT 'constraint', k.conname || ' of ' || %s, pg_get_constraintdef(k.oid) || k.convalidated, NULL, NULL
              FROM pg_constraint AS k
              JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %s AND k.contype IN ('c', 'f', 'p', 'u', 'x') AND NOT c.relispartition
               AND k.conparentid = 0
            """
                    .formatted(RELATION, OURS);

    private static final String VIEWS =
            """
            SELECT 'view', %s, concat_ws(E'\\n', c.reloptions::text, pg_get_viewdef(c.oid)), NULL, NULL
              FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %s AND c.relkind IN ('v', 'm')
            """
                    .formatted(RELATION, OURS);

    private static final String RULES =
            """
            SELECT 'rule', r.rulename || ' of ' || %s, concat_ws(E'\\n', r.ev_enabled, pg_get_ruledef(r.oid)), NULL, NULL
              FROM pg_rewrite AS r
              JOIN pg_class AS c ON c.oid = r.ev_class JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %s AND r.rulename <> '_RETURN'
            """
                    .formatted(RELATION, OURS);

    private static final String TRIGGERS =
            """
            SELECT 'trigger', t.tgname || ' of ' || %1$s,
                   concat_ws(E'\\n', t.tgenabled, replace(pg_get_triggerdef(t.oid), n.nspname || '.' || c.relname, %1$s)),
                   NULL, NULL
              FROM pg_trigger AS t
              JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %2$s AND NOT t.tgisinternal
            """
                    .formatted(RELATION, OURS);

    private static final String POLICIES =
            """
            SELECT 'policy', p.polname || ' of ' || %s,
                   concat_ws(E'\\n', p.polcmd, p.polpermissive, pg_get_expr(p.polqual, p.polrelid),
                             '/', pg_get_expr(p.polwithcheck, p.polrelid)),
                   ARRAY(SELECT CASE r.oid WHEN 0 THEN 'public' ELSE pg_get_userbyid(r.oid) END
                           FROM unnest(p.polroles) AS r (oid)), NULL
              FROM pg_policy AS p
              JOIN pg_class AS c ON c.oid = p.polrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE %s
            """
                    .formatted(RELATION, OURS);

    private static final String FUNCTIONS =
            """
            SELECT 'function', n.nspname || '.' || f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')',
                   concat_ws(E'\\n', l.lanname, f.prokind, f.prosecdef, f.proleakproof, f.proisstrict, f.provolatile,
                             f.proparallel, f.proconfig::text, f.proowner = n.nspowner,
                             pg_get_function_arguments(f.oid), pg_get_function_result(f.oid)),
                   ARRAY(SELECT CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee) END
                           FROM aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) AS a
                          WHERE a.grantee <> f.proowner),
                   coalesce(pg_get_function_sqlbody(f.oid), f.prosrc)
              FROM pg_proc AS f
              JOIN pg_namespace AS n ON n.oid = f.pronamespace JOIN pg_language AS l ON l.oid = f.prolang
             WHERE n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work')
            """;

    /** A privilege on columns names them all, so that each role has one line for a table. */
    private static final String PRIVILEGES =
            """
            SELECT 'privilege', g.privilege || ' on ' || g.target, '',
                   array_agg(DISTINCT CASE g.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(g.grantee) END), NULL
              FROM (SELECT 'schema ' || n.nspname AS target, a.privilege_type AS privilege, a.grantee
                      FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
                     WHERE n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') AND a.grantee <> n.nspowner
                     UNION ALL
                    SELECT %1$s, a.privilege_type, a.grantee
                      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     CROSS JOIN LATERAL aclexplode(c.relacl) AS a
                     WHERE %2$s AND a.grantee <> c.relowner
                     UNION ALL
                    SELECT %1$s, a.privilege_type || ' (' || string_agg(t.attname, ', ' ORDER BY t.attname) || ')', a.grantee
                      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                      JOIN pg_attribute AS t ON t.attrelid = c.oid AND NOT t.attisdropped
                     CROSS JOIN LATERAL aclexplode(t.attacl) AS a
                     WHERE %2$s AND a.grantee <> c.relowner
                     GROUP BY c.oid, c.relname, n.nspname, a.privilege_type, a.grantee) AS g
             GROUP BY 1, 2
            """
                    .formatted(RELATION, OURS);

    static final String PRIVILEGE = "privilege";
    private static final String POLICY = "policy";

    /** The queries by the kind of what they find. */
    static final Map<String, String> ALL =
            Map.of(
                    "relation",
                    RELATIONS,
                    "constraint",
                    CONSTRAINTS,
                    "view",
                    VIEWS,
                    "rule",
                    RULES,
                    "trigger",
                    TRIGGERS,
                    POLICY,
                    POLICIES,
                    "function",
                    FUNCTIONS,
                    PRIVILEGE,
                    PRIVILEGES);

    static final Map<String, String> RIGHTS = Map.of(POLICY, POLICIES, PRIVILEGE, PRIVILEGES);

    private SchemaDefinitions() {}

    /**
     * The definition of an object.
     *
     * @param text without a body
     * @param roles those that it applies to, by their names in this database
     * @param body of a function
     */
    record Definition(
            String kind, String name, String text, List<String> roles, Optional<String> body) {}

    /** Reads those of some kinds, in a transaction whose {@code search_path} is pinned. */
    static void read(Connection connection, Collection<String> queries, Consumer<Definition> each)
            throws SQLException {
        for (String sql : queries) {
            Query.of(sql)
                    .each(
                            connection,
                            row ->
                                    each.accept(
                                            new Definition(
                                                    row.getString(1),
                                                    row.getString(2),
                                                    row.getString(3),
                                                    texts(row),
                                                    Optional.ofNullable(row.getString(5)))));
        }
    }

    private static List<String> texts(ResultSet row) throws SQLException {
        @Nullable Object[] texts =
                row.getArray(4) == null ? new Object[0] : (Object[]) row.getArray(4).getArray();
        List<String> all = new ArrayList<>();
        Arrays.stream(texts).map(String::valueOf).sorted().forEach(all::add);
        return all;
    }
}
