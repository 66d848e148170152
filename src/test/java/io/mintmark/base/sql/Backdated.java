package io.mintmark.base.sql;

import java.time.Duration;

/**
 * Has the configuration been written earlier than it was, in the same order, so that mints of the
 * past follow what they rest on. No checkpoint may have sealed it yet.
 */
public final class Backdated {
    private Backdated() {}

    /**
     * A statement for a superuser. It rewrites the history with its hashes, and when the rows were
     * written.
     */
    public static String configuration(Duration by) {
        return STATEMENT.replace("SHIFT", by.toSeconds() + " seconds");
    }

    private static final String STATEMENT =
            """
            SET TimeZone = 'UTC';
            SELECT internal.record_role_members(); -- otherwise the first checkpoint's change comes too late
            CREATE FUNCTION pg_temp.earlier(content jsonb) RETURNS jsonb LANGUAGE sql AS $$
                SELECT content || coalesce(
                       (SELECT jsonb_object_agg(m.key, (m.value #>> '{}')::timestamptz - interval 'SHIFT')
                          FROM jsonb_each(content) AS m
                         WHERE m.key IN ('created_at', 'updated_at') AND jsonb_typeof(m.value) = 'string'), '{}')
            $$;
            DO $$
            DECLARE
                change audit.config_change;
                armed record;
                previous bytea;
                of_tenant text := '';
            BEGIN
                IF EXISTS (SELECT FROM audit.checkpoint) THEN
                    RAISE EXCEPTION 'a checkpoint has sealed the configuration';
                END IF;
                CREATE TEMPORARY TABLE armed ON COMMIT DROP AS
                    SELECT t.tgrelid::regclass AS target, t.tgname, t.tgenabled FROM pg_trigger AS t
                     WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
                       AND (t.tgrelid = 'log.config_change'::regclass
                            OR (SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = t.tgrelid) = 'broker'::regnamespace);
                FOR armed IN SELECT a.* FROM armed AS a LOOP
                    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', armed.target, armed.tgname);
                END LOOP;
                FOR change IN SELECT c.* FROM audit.config_change AS c ORDER BY coalesce(c.tenant, ''), c.revision LOOP
                    IF previous IS NULL OR of_tenant <> coalesce(change.tenant, '') THEN
                        previous := change.prev_hash;
                        of_tenant := coalesce(change.tenant, '');
                    END IF;
                    change.changed_at := change.changed_at - interval 'SHIFT';
                    change.before := pg_temp.earlier(change.before);
                    change.after := pg_temp.earlier(change.after);
                    change.prev_hash := previous;
                    change.hash := audit.change_hash(change);
                    previous := change.hash;
                    UPDATE audit.config_change AS c
                       SET changed_at = change.changed_at, before = change.before, after = change.after,
                           prev_hash = change.prev_hash, hash = change.hash
                     WHERE c.tenant IS NOT DISTINCT FROM change.tenant AND c.revision = change.revision;
                END LOOP;
                FOR armed IN
                    SELECT c.oid::regclass AS target FROM pg_class AS c
                     WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                       AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'updated_at')
                LOOP
                    EXECUTE format('UPDATE %s SET created_at = created_at - interval ''SHIFT'',
                                                  updated_at = updated_at - interval ''SHIFT''', armed.target);
                END LOOP;
                FOR armed IN SELECT a.* FROM armed AS a LOOP
                    EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', armed.target,
                                   CASE armed.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, armed.tgname);
                END LOOP;
            END $$;
            """;
}
