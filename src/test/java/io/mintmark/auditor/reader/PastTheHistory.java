package io.mintmark.auditor.reader;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;

import java.util.List;

/**
 * What somebody who owns the database can do to have the broker mint what nobody granted, and how
 * they put everything back afterwards. All of it is about the tenant of {@link
 * io.mintmark.endtoend.World}.
 */
enum PastTheHistory {
    GRANT_INSERTED(
            past("subject_grant", insertedGrantPast()),
            past("subject_grant", "DELETE FROM broker.subject_grant WHERE subject = 'ci:evil'"),
            "ci:evil",
            "api"),
    GRANT_HIDDEN_BY_A_POLICY(
            past("subject_grant", insertedGrantPast())
                    + "CREATE POLICY hides ON broker.subject_grant AS RESTRICTIVE TO"
                    + " mintmark_auditor USING (subject <> 'ci:evil');",
            "DROP POLICY hides ON broker.subject_grant;"
                    + past(
                            "subject_grant",
                            "DELETE FROM broker.subject_grant WHERE subject = 'ci:evil'"),
            "ci:evil",
            "api"),
    GRANT_IN_ANOTHER_TABLE(
            """
            ALTER TABLE broker.subject_grant RENAME TO away;
            CREATE TABLE broker.subject_grant (LIKE broker.away INCLUDING DEFAULTS) PARTITION BY LIST (tenant);
            CREATE TABLE broker.all_grants PARTITION OF broker.subject_grant DEFAULT;
            INSERT INTO broker.subject_grant SELECT * FROM broker.away;
            INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) VALUES (4711, 'acme', 'ci', 'ci:evil', 'api');
            ALTER TABLE broker.subject_grant OWNER TO mintmark_owner;
            GRANT SELECT ON broker.subject_grant TO mintmark_app, mintmark_admin;
            """,
            """
            DROP TABLE broker.subject_grant;
            ALTER TABLE broker.away RENAME TO subject_grant;
            """,
            "ci:evil",
            "api"),
    GRANT_IN_A_VIEW(
            """
            ALTER TABLE broker.subject_grant RENAME TO away;
            CREATE VIEW broker.subject_grant AS
            TABLE broker.away
             UNION ALL
            SELECT (jsonb_populate_record(g, '{"id": 4711, "subject": "ci:evil"}')).*
              FROM broker.away AS g WHERE g.subject = 'ci:main' AND g.key = 'api';
            ALTER VIEW broker.subject_grant OWNER TO mintmark_owner;
            GRANT SELECT ON broker.subject_grant TO mintmark_app, mintmark_admin;
            """,
            """
            DROP VIEW broker.subject_grant;
            ALTER TABLE broker.away RENAME TO subject_grant;
            """,
            "ci:evil",
            "api"),
    GRANT_WIDENED(
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET subject = 'ci:evil' WHERE subject ="
                            + " 'ci:unused'"),
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET subject = 'ci:unused' WHERE subject ="
                            + " 'ci:evil'"),
            "ci:evil",
            "api"),
    CONDITION_DROPPED(
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET claims = '{}' WHERE subject = 'ci:prod'"),
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET claims = '{\"environment\": \"prod\"}' WHERE"
                            + " subject = 'ci:prod'"),
            "ci:prod",
            "api"),
    GRANT_PROLONGED(
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET valid_until = NULL WHERE subject = 'ci:over'"),
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET valid_until = '2026-01-01Z' WHERE subject ="
                            + " 'ci:over'"),
            "ci:over",
            "api"),
    GRANT_LENGTHENED(
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET max_duration = NULL WHERE subject ="
                            + " 'ci:short'"),
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET max_duration = 60 WHERE subject = 'ci:short'"),
            "ci:short",
            "api"),
    LIMIT_OF_THE_TENANT_RAISED(
            "UPDATE broker.tenant SET max_duration = 300 WHERE name = 'acme';"
                    + past(
                            "tenant",
                            "UPDATE broker.tenant SET max_duration = NULL WHERE name = 'acme'"),
            past("tenant", "UPDATE broker.tenant SET max_duration = 300 WHERE name = 'acme'")
                    + "UPDATE broker.tenant SET max_duration = NULL WHERE name = 'acme';",
            "ci:main",
            "api"),
    LIMIT_OF_THE_TYPE_RAISED(
            past(
                            "provider_type",
                            "UPDATE broker.provider_type SET max_duration = 100000 WHERE type ="
                                    + " 'jwt'")
                    + """
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('acme', 'long', 'own', 50000, '{"audience": "https://long.example.com"}');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'ci:main', 'long');
                    """,
            """
            DELETE FROM broker.subject_grant WHERE key = 'long';
            DELETE FROM broker.key WHERE name = 'long';
            """
                    + past(
                            "provider_type",
                            "UPDATE broker.provider_type SET max_duration = 43200 WHERE type ="
                                    + " 'jwt'"),
            "ci:main",
            "long"),
    GRANT_ENABLED(
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET enabled = true WHERE subject = 'ci:off'"),
            past(
                    "subject_grant",
                    "UPDATE broker.subject_grant SET enabled = false WHERE subject = 'ci:off'"),
            "ci:off",
            "api"),
    KEY_ENABLED(
            past("key", "UPDATE broker.key SET enabled = true WHERE name = 'closed'"),
            past("key", "UPDATE broker.key SET enabled = false WHERE name = 'closed'"),
            "ci:main",
            "closed"),
    ANOTHER_TARGET(
            past(
                    "key",
                    "UPDATE broker.key SET settings = '{\"audience\":"
                            + " \"https://vault.example.com\"}' WHERE name = 'api'"),
            past(
                    "key",
                    "UPDATE broker.key SET settings = '{\"audience\": \"https://api.example.com\"}'"
                            + " WHERE name = 'api'"),
            "ci:main",
            "api"),
    ANOTHER_PROVIDER(
            past("key", "UPDATE broker.key SET provider = 'other' WHERE name = 'api'"),
            past("key", "UPDATE broker.key SET provider = 'own' WHERE name = 'api'"),
            "ci:main",
            "api"),
    TENANT_ENABLED(
            "UPDATE broker.tenant SET enabled = false WHERE name = 'acme';"
                    + past("tenant", "UPDATE broker.tenant SET enabled = true WHERE name = 'acme'"),
            past("tenant", "UPDATE broker.tenant SET enabled = false WHERE name = 'acme'")
                    + "UPDATE broker.tenant SET enabled = true WHERE name = 'acme';",
            "ci:main",
            "api"),
    IDENTITY_PROVIDER_ENABLED(
            "UPDATE broker.identity_provider SET enabled = false WHERE name = 'ci';"
                    + past(
                            "identity_provider",
                            "UPDATE broker.identity_provider SET enabled = true WHERE name = 'ci'"),
            past(
                            "identity_provider",
                            "UPDATE broker.identity_provider SET enabled = false WHERE name = 'ci'")
                    + "UPDATE broker.identity_provider SET enabled = true WHERE name = 'ci';",
            "ci:main",
            "api"),
    REQUIRED_CLAIMS_DROPPED(
            "UPDATE broker.identity_provider SET required_claims = '{\"environment\": \"prod\"}'"
                    + " WHERE name = 'ci';"
                    + past(
                            "identity_provider",
                            "UPDATE broker.identity_provider SET required_claims = '{}' WHERE name"
                                    + " = 'ci'"),
            past(
                            "identity_provider",
                            "UPDATE broker.identity_provider SET required_claims ="
                                    + " '{\"environment\": \"prod\"}' WHERE name = 'ci'")
                    + "UPDATE broker.identity_provider SET required_claims = '{}' WHERE name ="
                    + " 'ci';",
            "ci:main",
            "api"),
    PROVIDER_ENABLED(
            past(
                    "access_provider",
                    "UPDATE broker.access_provider SET enabled = true WHERE name = 'closed'"),
            past(
                    "access_provider",
                    "UPDATE broker.access_provider SET enabled = false WHERE name = 'closed'"),
            "ci:main",
            "behind-closed"),
    BLOCK_LIFTED(
            past(
                    "blocked_subject",
                    "UPDATE broker.blocked_subject SET enabled = false WHERE subject ="
                            + " 'ci:blocked'"),
            past(
                    "blocked_subject",
                    "UPDATE broker.blocked_subject SET enabled = true WHERE subject ="
                            + " 'ci:blocked'"),
            "ci:blocked",
            "api"),
    GLOB_LIFTED(
            past(
                    "blocked_subject",
                    "UPDATE broker.blocked_subject SET enabled = false WHERE subject = 'bad:**'"),
            past(
                    "blocked_subject",
                    "UPDATE broker.blocked_subject SET enabled = true WHERE subject = 'bad:**'"),
            "bad:one",
            "api"),
    KEYS_OF_THE_ISSUER_REPLACED(
            past(
                    "identity_provider",
                    "UPDATE broker.identity_provider SET jwks = '%1$s', updated_at = now() WHERE"
                            + " name = 'ci'"),
            past(
                    "identity_provider",
                    """
                    UPDATE broker.identity_provider AS p
                       SET jwks = NULL,
                           updated_at = (SELECT (c.after ->> 'updated_at')::timestamptz FROM audit.config_change AS c
                                          WHERE c.table_name = 'identity_provider' AND c.after ->> 'name' = 'ci'
                                          ORDER BY c.tenant DESC, c.revision DESC LIMIT 1)
                     WHERE p.name = 'ci'\
                    """),
            "ci:main",
            "api"),
    OLD_STATE_SHOWN(
            """
            CREATE OR REPLACE FUNCTION audit.last_change(tenant text, OUT revision bigint, OUT hash bytea)
                LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
            BEGIN
                SELECT c.revision, c.hash INTO last_change.revision, last_change.hash FROM audit.config_change AS c
                 WHERE c.tenant IS NOT DISTINCT FROM last_change.tenant
                   AND (c.tenant IS NULL OR c.revision <= (SELECT max(g.revision) - 1 FROM audit.config_change AS g
                                                             WHERE g.before ->> 'subject' = 'ci:revoked'))
                 ORDER BY c.revision DESC LIMIT 1;
            END $f$;
            """
                    + past(
                            "subject_grant",
                            """
                            INSERT INTO broker.subject_grant
                            SELECT (jsonb_populate_record(NULL::broker.subject_grant, c.before)).*
                              FROM audit.config_change AS c WHERE c.before ->> 'subject' = 'ci:revoked' AND c.after IS NULL\
                            """),
            past("subject_grant", "DELETE FROM broker.subject_grant WHERE subject = 'ci:revoked'"),
            "ci:revoked",
            "api"),
    HISTORY_TAKEN_BACK(
            insertedGrant() + ";",
            past("subject_grant", "DELETE FROM broker.subject_grant WHERE subject = 'ci:evil'")
                    + """
                    ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
                    DELETE FROM audit.config_change WHERE after ->> 'subject' = 'ci:evil';
                    ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
                    """,
            "ci:evil",
            "api");

    private final String deed;
    private final String undone;
    private final String subject;
    private final String key;

    PastTheHistory(String deed, String undone, String subject, String key) {
        this.deed = deed;
        this.undone = undone;
        this.subject = subject;
        this.key = key;
    }

    /** What admins write beside the tenant of the world, to be abused. */
    static final String CONFIGURATION =
            """
            INSERT INTO broker.access_provider (tenant, name, type, settings, enabled)
            VALUES ('acme', 'other', 'jwt', '{}', true), ('acme', 'closed', 'jwt', '{}', false);
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, enabled)
            VALUES ('acme', 'closed', 'own', 600, '{"audience": "https://closed.example.com"}', false),
                   ('acme', 'behind-closed', 'closed', 600, '{"audience": "https://behind.example.com"}', true);
            INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, valid_until, max_duration, enabled)
            VALUES ('acme', 'ci', 'ci:unused', 'exact', 'api', '{}', NULL, NULL, true),
                   ('acme', 'ci', 'ci:prod', 'exact', 'api', '{"environment": "prod"}', NULL, NULL, true),
                   ('acme', 'ci', 'ci:over', 'exact', 'api', '{}', '2026-01-01Z', NULL, true),
                   ('acme', 'ci', 'ci:short', 'exact', 'api', '{}', NULL, 60, true),
                   ('acme', 'ci', 'ci:off', 'exact', 'api', '{}', NULL, NULL, false),
                   ('acme', 'ci', 'ci:blocked', 'exact', 'api', '{}', NULL, NULL, true),
                   ('acme', 'ci', 'bad:**', 'glob', 'api', '{}', NULL, NULL, true),
                   ('acme', 'ci', 'ci:main', 'exact', 'closed', '{}', NULL, NULL, true),
                   ('acme', 'ci', 'ci:main', 'exact', 'behind-closed', '{}', NULL, NULL, true),
                   ('acme', 'ci', 'ci:revoked', 'exact', 'api', '{}', NULL, NULL, true);
            INSERT INTO broker.blocked_subject (tenant, subject, match, reason)
            VALUES ('acme', 'ci:blocked', 'exact', 'a test'), (NULL, 'bad:**', 'glob', 'a test'),
                   (NULL, 'ci:other', 'exact', 'a test');
            DELETE FROM broker.subject_grant WHERE subject = 'ci:revoked';
            """;

    private static String insertedGrant() {
        return "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci',"
                + " 'ci:evil', 'api')";
    }

    /** Without the trigger that draws the id. */
    private static String insertedGrantPast() {
        return insertedGrant()
                .replace("(tenant", "(id, tenant")
                .replace("('acme'", "(internal.new_id('broker.subject_grant', NULL), 'acme'");
    }

    /** Without the triggers of a table, which are as they were afterwards. */
    static String past(String table, String sql) {
        return """
        CREATE TEMP TABLE armed ON COMMIT DROP AS SELECT t.tgname, t.tgenabled FROM pg_trigger AS t
         WHERE t.tgrelid = 'broker.%1$s'::regclass AND NOT t.tgisinternal;
        ALTER TABLE broker.%1$s DISABLE TRIGGER USER;
        %2$s;
        DO $do$
        DECLARE
            t record;
        BEGIN
            FOR t IN SELECT * FROM armed LOOP
                EXECUTE format('ALTER TABLE broker.%1$s ENABLE %%s TRIGGER %%I',
                               CASE t.tgenabled WHEN 'A' THEN 'ALWAYS' ELSE '' END, t.tgname);
            END LOOP;
        END $do$;
        DROP TABLE armed;
        """
                .formatted(table, sql);
    }

    /** Whether the broker's cached state of the tenant and of all tenants has to be read again. */
    private boolean isOfTheTenant() {
        return this != OLD_STATE_SHOWN && this != HISTORY_TAKEN_BACK;
    }

    void begin(TestDatabase database, IssuerStandIn evil) {
        database.runAsSuperuser("BEGIN;" + deed.replace("%1$s", evil.jwks()) + ";COMMIT");
        touch(database);
    }

    /** Everything is as it was; what was replaced is made again by its own definition. */
    void end(TestDatabase database, List<String> lastChange) {
        database.runAsSuperuser("BEGIN;" + undone + ";COMMIT");
        if (this == OLD_STATE_SHOWN) {
            database.runAsSuperuser(lastChange.getFirst());
        }
        touch(database);
    }

    private void touch(TestDatabase database) {
        if (isOfTheTenant()) {
            database.admin(
                    """
                    UPDATE broker.key SET description = md5(random()::text) WHERE tenant = 'acme' AND name = 'spare';
                    UPDATE broker.blocked_subject SET reason = md5(random()::text) WHERE subject = 'ci:other';
                    """);
        }
    }

    /** Whose token it takes: that of the issuer, or of whoever has put keys in place of its own. */
    String token(IssuerStandIn issuer, IssuerStandIn evil, String audience) {
        return this == KEYS_OF_THE_ISSUER_REPLACED
                ? evil.sign(java.util.Map.of("iss", issuer.url(), "sub", subject, "aud", audience))
                : issuer.sign(subject, audience);
    }

    String key() {
        return key;
    }
}
