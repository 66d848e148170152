package io.mintmark.base.sql;

import io.mintmark.base.sql.TestDatabase.Who;

import java.util.List;

/** A tenant whose subjects may request a key, and the calls that the service makes for them. */
public final class AskedAccess {
    /** {@code acme}: developers ask, leads decide; two approvals for a day, one for an hour. */
    public static final String TENANT =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme');
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('sso', 'acme', 'https://sso.example.com', '{mintmark}');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
            VALUES ('console', 'acme', 'https://sso.example.com', '{console}', '{approver}');
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'own', 'jwt');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
            VALUES ('acme', 'deploy', 'own', 600, '{"audience": "https://api.example.com"}', 'team'),
                   ('acme', 'root', 'own', 600, '{"audience": "https://root.example.com"}', 'team');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, approvals, max_access)
            VALUES ('acme', 'deploy', 'sso', 'dev:**', 'glob', '{"groups": ["dev", "ops"]}', 1, 3600),
                   ('acme', 'deploy', 'sso', 'dev:**', 'glob', '{"groups": ["dev", "ops"]}', 2, 86400);
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access, break_glass, approvals)
            VALUES ('acme', 'root', 'sso', 'dev:**', 'glob', '{"groups": "dev"}', 3600, true, 0);
            INSERT INTO broker.access_approver (rule, idp, subject, match)
            SELECT r, p, 'lead:*', 'glob' FROM generate_series(1, 2) AS r, unnest('{sso,console}'::text[]) AS p;
            INSERT INTO broker.access_approver (rule, role_name)
            VALUES (1, 'test_tenant_admin'), (2, 'test_tenant_admin');
            INSERT INTO broker.access_approver (rule, role_name, idp, subject)
            VALUES (1, 'test_admin', 'sso', 'lead:ann'), (2, 'test_admin', 'sso', 'lead:ann');
            """;

    private final TestDatabase database;

    /** Of a database that was filled with {@link #TENANT}. */
    public AskedAccess(TestDatabase database) {
        this.database = database;
    }

    /** Asks for a key; the id of the request. */
    public String asks(String subject, String key, int seconds) {
        return one(request(subject, key, seconds, "id"));
    }

    /** The same, of which a column is wanted, for example the refusal. */
    public String request(String subject, String key, int seconds, String column) {
        return """
        SELECT %s FROM internal.request_access('acme', 'sso', '%s', '{"groups": ["dev", "all"]}', NULL, NULL,
               '{%s}', 'to mend incident 7', %d, false)
        """
                .formatted(column, subject, key, seconds);
    }

    /** What a decision with a token comes to: the refusal, or the status. */
    public String decides(String idp, String subject, String request, String verdict) {
        return one(decision(idp, subject, request, verdict));
    }

    public String decision(String idp, String subject, String request, String verdict) {
        return "SELECT coalesce(refusal, status) FROM internal.decide_access('acme', '%s', '%s', '{}', false, '%s', '%s', NULL)"
                .formatted(idp, subject, request, verdict);
    }

    public String gives(String subject, String request) {
        return one(
                "SELECT coalesce(refusal, status) FROM internal.withdraw_access('acme', 'sso', '%s', '%s')"
                        .formatted(subject, request));
    }

    public String one(String sql) {
        List<String> column = database.column(Who.APP, sql);
        return column.size() == 1 ? String.valueOf(column.getFirst()) : column.toString();
    }

    /** Whether a developer may mint now, and what is missing. */
    public String explained(String subject, String key) {
        return explained(subject, key, "coalesce(condition, 'granted')");
    }

    /** The same, of which columns are wanted. */
    public String explained(String subject, String key, String columns) {
        return database.value(
                """
                SELECT %s FROM broker.explain('sso', '%s', '{"groups": ["dev"]}') WHERE key = '%s'
                """
                        .formatted(columns, subject, key));
    }
}
