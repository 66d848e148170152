package io.mintmark.audit.log;

import io.mintmark.base.sql.SqlRunner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Three months of mints in great number, of many tenants and 200,000 subjects, and their grants
 * with their history, written by SQL alone: past the broker and the triggers, and before the log
 * has its indexes. Their hashes are not true.
 */
final class BulkRows {
    static final String BUSY = "job:main";
    static final String RARE = "rare";

    private static final long MINTS_AT_ONCE = 74_000;

    /** A mint has two rows, a denial one. */
    private static final double ROWS_OF_A_MINT = 1.94;

    private static final long ROWS_OF_A_REQUEST = 10;

    private static final Path SCRIPTS = Path.of("src/test/resources/figures");

    /** What a row of the log pays for is made once for all of them. */
    private static final String WITHOUT_INDEXES =
            """
            ALTER TABLE log.event DISABLE TRIGGER keeps_open_mints;
            CREATE TABLE figure_index AS
            SELECT c.relname AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
              FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
             WHERE i.indrelid = 'log.event'::regclass AND NOT i.indisprimary;
            DO $$
            DECLARE
                index record;
            BEGIN
                FOR index IN SELECT name FROM figure_index LOOP
                    EXECUTE format('DROP INDEX log.%I', index.name);
                END LOOP;
            END $$;
            ALTER TABLE log.event DROP CONSTRAINT event_holds_each_step_of_a_mint_once;
            CREATE TABLE figure_grant AS
            SELECT g.tenant, g.key, min(g.id) AS id,
                   (SELECT max(c.revision) FROM audit.config_change AS c WHERE c.tenant = g.tenant) AS revision
              FROM broker.subject_grant AS g WHERE g.match = 'glob' GROUP BY g.tenant, g.key;
            ANALYZE figure_grant;
            """;

    private static final String WITH_INDEXES =
            """
            SET maintenance_work_mem = '1GB';
            ALTER TABLE log.event ADD CONSTRAINT event_holds_each_step_of_a_mint_once PRIMARY KEY (mint_id, step);
            INSERT INTO log.open_mint (mint_id, tenant)
            SELECT e.mint_id, e.tenant FROM audit.event AS e
             WHERE e.step = 1 AND NOT EXISTS (SELECT FROM audit.event AS o WHERE o.mint_id = e.mint_id AND o.step = 2);
            ALTER TABLE log.event ENABLE ALWAYS TRIGGER keeps_open_mints;
            """;

    private final SqlRunner superuser;
    private final long mints;
    private final int tenants;
    private final int grants;
    private final Instant end = Instant.now();

    /** 2,000 tenants, one of them with 100,000 grants. */
    BulkRows(SqlRunner superuser, long rows) {
        this(superuser, rows, 2_000, 100_000);
    }

    /**
     * @param grants of the tenant that has the most
     */
    BulkRows(SqlRunner superuser, long rows, int tenants, int grants) {
        this.superuser = superuser;
        this.mints = (long) (rows / ROWS_OF_A_MINT);
        this.tenants = tenants;
        this.grants = grants;
    }

    /** The tenants with their grants, and partitions for the past. */
    void configure() throws IOException {
        long began = System.nanoTime();
        superuser.run(
                """
                SET ROLE mintmark_owner;
                SELECT audit.create_partition((now() - n * interval '1 month')::date)
                  FROM generate_series(0, 4) AS n;
                """);
        superuser.run(script("tenants.sql"));
        tell("tenants and grants", began);
    }

    /**
     * The rows of requests for access, endings, notices and one-time tokens. Nearly all have ended.
     */
    void work() throws IOException {
        superuser.run(
                script("work.sql").replace("{rows}", Long.toString(mints / ROWS_OF_A_REQUEST)));
    }

    /** Stores what lint finds in the grants, which takes milliseconds for each. */
    void lint() {
        superuser.run(
                "SELECT internal.keep_findings('subject_grant', ARRAY(SELECT g.id FROM broker.subject_grant AS g))");
    }

    void fill() throws IOException {
        long began = System.nanoTime();
        superuser.run(WITHOUT_INDEXES);
        String script =
                script("events.sql")
                        .replace("{all}", Long.toString(mints))
                        .replace("{end}", end.toString());
        for (long from = 0; from < mints; from += MINTS_AT_ONCE) {
            superuser.run(between(script, from, Math.min(mints, from + MINTS_AT_ONCE) - 1));
        }
        tell("%,d mints and denials".formatted(mints), began);
        began = System.nanoTime();
        superuser.run(WITH_INDEXES);
        List<String> indexes = superuser.column("SELECT definition FROM figure_index");
        for (String index : indexes) {
            superuser.run("SET maintenance_work_mem = '1GB';" + index);
        }
        superuser.run("DROP TABLE figure_index, figure_grant");
        tell("%d indexes".formatted(indexes.size() + 1), began);
    }

    private String script(String name) throws IOException {
        return Files.readString(SCRIPTS.resolve(name))
                .replace("{tenants}", Integer.toString(tenants))
                .replace("{grants}", Integer.toString(grants));
    }

    private static String between(String script, long from, long to) {
        return script.replace("{from}", Long.toString(from)).replace("{to}", Long.toString(to));
    }

    private static void tell(String what, long began) {
        System.out.printf(
                "%s: %d s%n", what, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }
}
