package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What {@code verify} and {@code check} say of a schema that isn't as the migrations made it. With
 * {@code -Dmanifest.write=true} the manifest is written anew, for the kind of server that the tests
 * run on; {@code .ci/manifest} does that for all.
 */
@Tag("every-postgres")
class SchemaManifestTest {
    private static final Path FILE =
            Path.of("src", "main", "resources", SchemaManifest.RESOURCE.substring(1));

    private static List<String> differences(TestDatabase database) {
        return new SchemaCheck(database.login(Who.AUDITOR)).differences(TestDatabase.ROLES);
    }

    @Test
    void the_manifest_is_that_of_a_schema_that_was_migrated_just_now() throws Exception {
        try (TestDatabase database = TestDatabase.migrated();
                Connection connection =
                        database.login(Who.AUDITOR).source("test", "").getConnection()) {
            SchemaManifest manifest = new SchemaManifest(connection, TestDatabase.ROLES);
            SortedMap<String, ManifestEntry> known = SchemaManifest.ofThisRelease();
            SortedMap<String, ManifestEntry> merged = new TreeMap<>();
            String server = manifest.server();
            manifest.made()
                    .forEach((key, made) ->
                            merged.put(key, known.getOrDefault(key, made).with(server, made)));
            if (Boolean.getBoolean("manifest.write")) {
                Files.writeString(FILE, text(merged));
            } else {
                Set<String> changed = new TreeSet<>(merged.keySet());
                changed.addAll(known.keySet());
                changed.removeIf(key -> Objects.equals(merged.get(key), known.get(key)));
                assertEquals(
                        Set.of(),
                        changed,
                        "The schema has changed; run .ci/manifest and commit it.");
                assertEquals(List.of(), differences(database));
            }
        }
    }

    private static String text(SortedMap<String, ManifestEntry> entries) {
        return entries.entrySet().stream()
                .map(entry -> entry.getKey() + "\t" + entry.getValue() + "\n")
                .collect(Collectors.joining());
    }

    /**
     * Creates each object again from its definition as the server prints it, as pg_restore does.
     */
    private static final String REPARSED =
            """
            SET search_path = '';
            DO $$
            DECLARE
                o record;
            BEGIN
                FOR o IN SELECT c.oid::regclass AS name, c.reloptions, pg_get_viewdef(c.oid) AS definition
                           FROM pg_class AS c
                          WHERE c.relkind = 'v' AND c.relnamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') LOOP
                    EXECUTE format('CREATE OR REPLACE VIEW %s %s AS %s', o.name,
                                   'WITH (' || array_to_string(o.reloptions, ', ') || ')', o.definition);
                END LOOP;
                FOR o IN SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc AS p
                          WHERE p.pronamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') LOOP
                    EXECUTE o.definition;
                END LOOP;
                FOR o IN SELECT k.conrelid::regclass AS name, k.conname, pg_get_constraintdef(k.oid) AS definition
                           FROM pg_constraint AS k
                          WHERE k.contype = 'c' AND k.coninhcount = 0
                            AND k.connamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') LOOP
                    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', o.name, o.conname);
                    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', o.name, o.conname, o.definition);
                END LOOP;
                FOR o IN SELECT p.polname, p.polrelid::regclass AS name, pg_get_expr(p.polqual, p.polrelid) AS visible,
                                pg_get_expr(p.polwithcheck, p.polrelid) AS written FROM pg_policy AS p LOOP
                    EXECUTE format('ALTER POLICY %I ON %s', o.polname, o.name) || coalesce(' USING (' || o.visible || ')', '')
                            || coalesce(' WITH CHECK (' || o.written || ')', '');
                END LOOP;
                FOR o IN SELECT t.tgname, t.tgrelid::regclass AS name, t.tgenabled, pg_get_triggerdef(t.oid) AS definition
                           FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
                          WHERE NOT t.tgisinternal AND t.tgparentid = 0
                            AND c.relnamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') LOOP
                    EXECUTE format('DROP TRIGGER %I ON %s', o.tgname, o.name);
                    EXECUTE o.definition;
                    EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', o.name, CASE o.tgenabled WHEN 'A' THEN 'ALWAYS' END, o.tgname);
                END LOOP;
                FOR o IN SELECT a.attrelid::regclass AS name, a.attname, pg_get_expr(d.adbin, d.adrelid) AS definition
                           FROM pg_attrdef AS d
                           JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
                           JOIN pg_class AS c ON c.oid = d.adrelid AND NOT c.relispartition
                          WHERE c.relnamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work') LOOP
                    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', o.name, o.attname, o.definition);
                END LOOP;
            END
            $$
            """;

    @Test
    void a_schema_that_was_restored_from_a_dump_has_no_differences() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(REPARSED);
            assertEquals(List.of(), differences(database));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    CREATE OR REPLACE VIEW audit.denial WITH (security_invoker = true) AS SELECT * FROM audit.denial_before WHERE false | View audit.denial differs from this release
                    ALTER VIEW audit.mint SET (security_invoker = false) | View audit.mint differs from this release
                    CREATE VIEW audit.more AS SELECT 1 AS one | View audit.more isn't part of this release
                    CREATE OR REPLACE FUNCTION broker.revision(tenant text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS 'SELECT 7::bigint' | Function broker.revision(tenant text) differs from this release
                    ALTER FUNCTION audit.last_change(text) RESET search_path | Function audit.last_change(tenant text, OUT revision bigint, OUT hash bytea) differs from this release
                    ALTER FUNCTION audit.last_change(text) SECURITY DEFINER | Function audit.last_change(tenant text, OUT revision bigint, OUT hash bytea) differs from this release
                    GRANT EXECUTE ON FUNCTION internal.globs_overlap(text, text) TO PUBLIC | Function internal.globs_overlap(one text, other text) differs from this release
                    CREATE FUNCTION internal.revision(text) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint' | Function internal.revision(text) isn't part of this release
                    DROP FUNCTION audit.who_could_mint(text, text, timestamptz) CASCADE | Function audit.who_could_mint(tenant text, key text, at timestamp with time zone) is missing
                    ALTER TABLE broker.subject_grant DISABLE TRIGGER record_change | Trigger record_change of broker.subject_grant differs from this release
                    DROP TRIGGER is_append_only ON log.config_change | Trigger is_append_only of log.config_change is missing
                    CREATE TRIGGER more BEFORE INSERT ON log.event FOR EACH ROW EXECUTE FUNCTION internal.refuse_change() | Trigger more of log.event isn't part of this release
                    DROP POLICY auditors_read_every_row ON broker.subject_grant | Policy auditors_read_every_row of broker.subject_grant is missing
                    ALTER POLICY auditors_read_every_row ON broker.subject_grant USING (subject <> 'mallory') | Policy auditors_read_every_row of broker.subject_grant differs from this release
                    ALTER POLICY auditors_read_every_row ON broker.subject_grant TO mintmark_admin | Policy auditors_read_every_row of broker.subject_grant differs from this release
                    CREATE POLICY hides ON broker.subject_grant AS RESTRICTIVE USING (subject <> 'mallory') | Policy hides of broker.subject_grant isn't part of this release
                    ALTER TABLE log.event DISABLE ROW LEVEL SECURITY | Relation log.event differs from this release
                    ALTER TABLE broker.tenant DROP CONSTRAINT a_tenant_name_has_1_to_40_of_a_to_z_0_to_9_and_hyphen | Constraint a_tenant_name_has_1_to_40_of_a_to_z_0_to_9_and_hyphen of broker.tenant is missing
                    ALTER TABLE broker.key ALTER COLUMN enabled SET DEFAULT false | Relation broker.key differs from this release
                    CREATE RULE more AS ON INSERT TO broker.subject_grant DO ALSO NOTIFY more | Rule more of broker.subject_grant isn't part of this release
                    CREATE TABLE public.heir () INHERITS (broker.subject_grant) | Relation broker.subject_grant differs from this release
                    CREATE TABLE broker.more (one int) | Relation broker.more isn't part of this release
                    DO $$ BEGIN EXECUTE format('ALTER TABLE log.event_%s DISABLE TRIGGER is_append_only', to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')); END $$ | Trigger is_append_only of log.event_* differs from this release
                    INSERT INTO runtime.schema_version (version, oldest_program) VALUES (999, '0.1.0') | The schema has version 999
                    """)
    void what_an_owner_altered_is_named(String sql, String named) {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    sql.startsWith("CREATE OR REPLACE VIEW") ? replacedView(database, sql) : sql);
            List<String> found = differences(database);
            assertEquals(
                    1,
                    found.stream().filter(sentence -> sentence.startsWith(named)).count(),
                    found::toString);
        }
    }

    /** The same columns, and no rows. */
    private static String replacedView(TestDatabase database, String sql) {
        String definition = database.value("SELECT pg_get_viewdef('audit.denial'::regclass)");
        return sql.substring(0, sql.indexOf(" AS "))
                + " AS SELECT * FROM (%s) AS d WHERE false".formatted(definition.replace(";", ""));
    }

    @Test
    void a_partitioned_table_in_place_of_a_table_is_named() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    """
                    ALTER TABLE broker.console_access RENAME TO away;
                    CREATE TABLE broker.console_access (LIKE broker.away INCLUDING DEFAULTS) PARTITION BY LIST (id);
                    """);
            List<String> found = new ArrayList<>(differences(database));
            found.removeIf(sentence -> !sentence.startsWith("Relation"));
            assertEquals(
                    List.of(
                            "Relation broker.away isn't part of this release",
                            "Relation broker.console_access differs from this release"),
                    found.stream().sorted().toList());
        }
    }

    @Test
    void what_operators_add_beside_the_schema_is_their_business() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    """
                    CREATE SCHEMA reports;
                    CREATE VIEW reports.mints AS SELECT * FROM audit.mint;
                    CREATE INDEX more ON log.event (user_agent);
                    GRANT SELECT ON audit.mint TO test_console;
                    GRANT EXECUTE ON FUNCTION audit.who_could_mint(text, text, timestamptz) TO test_console;
                    SELECT audit.create_partition('2031-05-01');
                    """);
            assertEquals(List.of(), differences(database));
        }
    }

    @Test
    void functions_that_an_owner_puts_into_a_login_s_search_path_are_not_called() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    """
                    CREATE SCHEMA evil;
                    GRANT USAGE ON SCHEMA evil TO PUBLIC;
                    CREATE FUNCTION evil.pg_get_viewdef(oid) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
                    ALTER ROLE %s IN DATABASE %s SET search_path = evil, pg_catalog;
                    """
                            .formatted(Who.AUDITOR.login(), database.name()));
            assertEquals(List.of(), differences(database));
        }
    }
}
