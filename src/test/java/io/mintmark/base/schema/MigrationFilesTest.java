package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What goes into which file of db/migration (docs/schema.md, Writing a migration). */
@Tag("every-postgres")
class MigrationFilesTest {
    /** Objects that repeatable files define. */
    private static final Set<String> BEHAVIOUR = Set.of("function", "view", "trigger", "policy");

    /** Each object of our schemas: its kind, its name, and a digest of its definition. */
    private static final String OBJECTS =
            """
            WITH ours AS (
                SELECT n.oid FROM pg_namespace AS n
                 WHERE n.nspname IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
            )
            SELECT kind, name, md5(string_agg(definition, ' ' ORDER BY definition))
              FROM (SELECT 'function' AS kind, p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS definition
                      FROM pg_proc AS p WHERE p.pronamespace IN (SELECT oid FROM ours)
                     UNION ALL
                    SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'i' THEN 'index' WHEN 'I' THEN 'index'
                                          WHEN 'S' THEN 'sequence' ELSE 'table' END, c.oid::regclass::text,
                           CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) WHEN 'i' THEN pg_get_indexdef(c.oid)
                                          WHEN 'I' THEN pg_get_indexdef(c.oid)
                                          ELSE concat(c.relrowsecurity, array_to_string(c.reloptions, ',')) END
                      FROM pg_class AS c
                     WHERE c.relnamespace IN (SELECT oid FROM ours) AND c.relkind IN ('r', 'p', 'v', 'i', 'I', 'S')
                       AND c.relname NOT LIKE 'event\\_2%'
                     UNION ALL
                    SELECT 'column', a.attrelid::regclass || '.' || a.attname,
                           concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid))
                      FROM pg_attribute AS a
                      JOIN pg_class AS c ON c.oid = a.attrelid
                      LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                     WHERE c.relnamespace IN (SELECT oid FROM ours) AND c.relkind IN ('r', 'p') AND a.attnum > 0
                       AND c.relname NOT LIKE 'event\\_2%'
                     UNION ALL
                    SELECT 'constraint', n.conrelid::regclass || ' ' || n.conname, pg_get_constraintdef(n.oid)
                      FROM pg_constraint AS n
                     WHERE n.connamespace IN (SELECT oid FROM ours) AND n.contype <> 't'
                       AND n.conrelid::regclass::text NOT LIKE 'log.event\\_2%'
                     UNION ALL
                    SELECT 'trigger', t.tgrelid::regclass || ' ' || t.tgname, t.tgenabled::text || pg_get_triggerdef(t.oid)
                      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
                     WHERE c.relnamespace IN (SELECT oid FROM ours) AND NOT t.tgisinternal
                       AND c.relname NOT LIKE 'event\\_2%'
                     UNION ALL
                    SELECT 'policy', p.polrelid::regclass || ' ' || p.polname,
                           concat_ws(' ', p.polcmd::text, p.polpermissive, p.polroles::text, pg_get_expr(p.polqual, p.polrelid),
                                     pg_get_expr(p.polwithcheck, p.polrelid))
                      FROM pg_policy AS p) AS object
             GROUP BY kind, name
            """;

    /** Functions that a stored row or an index depends on, and what those call in turn. */
    private static final String STORED_FUNCTIONS =
            """
            WITH RECURSIVE ours AS MATERIALIZED (
                SELECT oid, pronamespace::regnamespace::text AS schema, proname AS name, pg_get_functiondef(oid) AS definition
                  FROM pg_proc WHERE pronamespace::regnamespace::text IN ('broker', 'audit', 'internal')
            ), stored AS (
                SELECT refobjid AS oid FROM pg_depend
                 WHERE refclassid = 'pg_proc'::regclass AND deptype IN ('n', 'a')
                   AND classid IN ('pg_constraint'::regclass, 'pg_class'::regclass, 'pg_attrdef'::regclass,
                                   'pg_statistic_ext'::regclass)
                   AND refobjid IN (SELECT oid FROM ours)
                 UNION
                SELECT called.oid FROM stored JOIN ours AS caller USING (oid)
                  JOIN ours AS called ON called.schema = 'internal'
                                     AND strpos(caller.definition, 'internal.' || called.name || '(') > 0
            )
            SELECT 'function ' || oid::regprocedure FROM stored
            """;

    private static final String LOCKED_TABLES =
            """
            SELECT l.relation::regclass || ' ' || l.mode FROM pg_locks AS l
              JOIN pg_class AS c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
             WHERE l.pid = pg_backend_pid()
               AND c.relnamespace::regnamespace::text IN ('broker', 'audit', 'runtime')
               AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            """;

    private static final Pattern CREATED =
            Pattern.compile(
                    "^ *CREATE (?:OR REPLACE )?(?:UNIQUE"
                            + " )?(FUNCTION|PROCEDURE|VIEW|TABLE|INDEX|TYPE|TRIGGER|POLICY|STATISTICS)"
                            // a function by its arguments too: two may have one name
                            + " (?:IF NOT EXISTS )?(\"?[A-Za-z_.]+\"?(?:[(][^)]*)?)",
                    Pattern.MULTILINE);

    @AutoClose private static TestDatabase database;

    /** What each file created and what it changed of earlier ones. */
    private static final Map<MigrationFile, Set<String>> created = new HashMap<>();

    private static final Map<MigrationFile, Set<String>> changed = new HashMap<>();

    /** Functions that stored rows or indexes depend on, or did before a later file dropped them. */
    private static final Set<String> stored = new TreeSet<>();

    @BeforeAll
    static void runEachFile() {
        database = TestDatabase.unmigrated();
        database.run(Who.OWNER, "SET ROLE mintmark_owner; CREATE SCHEMA runtime");
        Map<String, String> before = objects();
        for (MigrationFile file : MigrationFile.all()) {
            file.run(database);
            Map<String, String> after = objects();
            created.put(file, difference(after.keySet(), before.keySet()));
            changed.put(file, changes(before, after, file));
            stored.addAll(database.column(Who.OWNER, STORED_FUNCTIONS));
            before = after;
        }
    }

    private static Map<String, String> objects() {
        Map<String, String> objects = new TreeMap<>();
        try (Connection connection = database.connect(Who.OWNER);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(OBJECTS)) {
            while (rows.next()) {
                objects.put(rows.getString(1) + " " + rows.getString(2), rows.getString(3));
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return objects;
    }

    private static Set<String> difference(Set<String> some, Set<String> others) {
        Set<String> difference = new TreeSet<>(some);
        difference.removeAll(others);
        return difference;
    }

    /**
     * Redefined, or dropped by a repeatable file. Versioned files may drop what earlier ones made.
     */
    private static Set<String> changes(
            Map<String, String> before, Map<String, String> after, MigrationFile file) {
        return before.entrySet().stream()
                .filter(object -> file.isRepeatable() || after.containsKey(object.getKey()))
                .filter(object -> !object.getValue().equals(after.get(object.getKey())))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<DynamicTest> forEachFile(Consumer<MigrationFile> check) {
        return MigrationFile.all().stream()
                .map(file -> dynamicTest(file.name(), () -> check.accept(file)));
    }

    @TestFactory
    Stream<DynamicTest> a_file_changes_no_object_of_another_file() {
        return forEachFile(file -> assertEquals(Set.of(), changed.get(file)));
    }

    @Test
    void no_object_is_created_twice() {
        Map<String, List<String>> files = new TreeMap<>();
        for (MigrationFile file : MigrationFile.all()) {
            Matcher create = CREATED.matcher(file.sql());
            while (create.find()) {
                files.computeIfAbsent(
                                create.group(1) + " " + create.group(2), any -> new ArrayList<>())
                        .add(file.name());
            }
        }
        assertTrue(files.size() > 150, "too few objects found: " + files.size());
        files.values().removeIf(each -> each.size() == 1);
        assertEquals(Map.of(), files);
    }

    @TestFactory
    Stream<DynamicTest> tables_are_versioned_and_behaviour_is_repeatable() {
        return forEachFile(file -> {
            Set<String> misplaced = new TreeSet<>(created.get(file));
            misplaced.removeIf(object ->
                    file.isRepeatable() == BEHAVIOUR.contains(kind(object))
                            || stored.contains(object));
            assertEquals(Set.of(), misplaced);
        });
    }

    private static String kind(String object) {
        return object.substring(0, object.indexOf(' '));
    }

    @TestFactory
    Stream<DynamicTest> a_repeatable_file_that_runs_again_changes_nothing_and_locks_no_table() {
        return forEachFile(file -> {
            if (file.isRepeatable()) {
                assertEquals(List.of(), locksOf(file));
            }
        });
    }

    private static List<String> locksOf(MigrationFile file) {
        Map<String, String> before = objects();
        try (Connection connection = database.connect(Who.OWNER);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(
                    "SET LOCAL ROLE mintmark_owner; SET LOCAL client_min_messages = warning");
            statement.execute(file.sql());
            List<String> locks = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(LOCKED_TABLES)) {
                while (rows.next()) {
                    locks.add(rows.getString(1));
                }
            }
            connection.commit();
            assertEquals(before, objects());
            return locks;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
