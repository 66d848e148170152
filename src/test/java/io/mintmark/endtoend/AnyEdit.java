package io.mintmark.endtoend;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Edits of each table of {@code broker}. {@code %1$s} is a tenant, {@code %2$d} 0 to 9, {@code
 * %3$s} an issuer of tokens. Few are refused.
 */
final class AnyEdit {
    /** The tables that no admin may write. */
    static final Set<String> BY_SUPERUSER =
            Set.of("provider_type", "known_issuer", "access_request");

    static final Map<String, List<String>> BY_TABLE =
            new TreeMap<>(
                    Map.ofEntries(
                            Map.entry(
                                    "tenant",
                                    List.of(
                                            "UPDATE broker.tenant SET enabled = NOT enabled WHERE name = '%1$s'",
                                            "UPDATE broker.tenant SET enabled = true",
                                            "UPDATE broker.tenant SET max_duration = 300 + %2$d WHERE name = '%1$s'",
                                            "UPDATE broker.tenant SET max_calls = 20 + %2$d WHERE name = '%1$s'")),
                            Map.entry(
                                    "identity_provider",
                                    List.of(
                                            "UPDATE broker.identity_provider SET enabled = NOT enabled WHERE tenant = '%1$s'",
                                            "UPDATE broker.identity_provider SET enabled = true WHERE tenant = '%1$s'",
                                            "UPDATE broker.identity_provider SET listed = NOT listed WHERE tenant = '%1$s'",
                                            "UPDATE broker.identity_provider SET issuer = '%3$s' WHERE tenant = '%1$s'",
                                            "UPDATE broker.identity_provider SET audiences = '{other-%1$s}' WHERE tenant = '%1$s'",
                                            "UPDATE broker.identity_provider SET audiences = '{mintmark-%1$s,more-%2$d-%1$s}' WHERE tenant = '%1$s'")),
                            Map.entry(
                                    "access_provider",
                                    List.of(
                                            "UPDATE broker.access_provider SET enabled = NOT enabled WHERE tenant = '%1$s'",
                                            "UPDATE broker.access_provider SET enabled = true")),
                            Map.entry(
                                    "key",
                                    List.of(
                                            "UPDATE broker.key SET enabled = NOT enabled WHERE tenant = '%1$s' AND name = 'report'",
                                            "UPDATE broker.key SET max_duration = 600 + %2$d WHERE tenant = '%1$s'",
                                            "UPDATE broker.key SET description = 'edit %2$d' WHERE tenant = '%1$s' AND name = 'api'",
                                            "UPDATE broker.key SET settings = '{\"audience\": \"https://api%2$d.example.com\"}' WHERE tenant = '%1$s' AND name = 'api'")),
                            Map.entry(
                                    "subject_grant",
                                    List.of(
                                            "UPDATE broker.subject_grant SET enabled = NOT enabled WHERE tenant = '%1$s' AND request_id IS NULL",
                                            "UPDATE broker.subject_grant SET max_duration = 400 + %2$d WHERE tenant = '%1$s' AND match = 'glob'",
                                            "DELETE FROM broker.subject_grant WHERE tenant = '%1$s' AND subject = 'ci:main' AND request_id IS NULL",
                                            """
                                            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                                            VALUES ('%1$s', 'ci-%1$s', 'ci:main', 'report') ON CONFLICT DO NOTHING
                                            """,
                                            """
                                            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                                            VALUES ('%1$s', 'ci-%1$s', 'ci:pull', 'api') ON CONFLICT DO NOTHING
                                            """)),
                            Map.entry(
                                    "blocked_subject",
                                    List.of(
                                            "DELETE FROM broker.blocked_subject",
                                            """
                                            INSERT INTO broker.blocked_subject (tenant, idp, subject, reason)
                                            VALUES ('%1$s', 'ci-%1$s', 'ci:main', 'edit %2$d') ON CONFLICT DO NOTHING
                                            """,
                                            """
                                            INSERT INTO broker.blocked_subject (subject, match, reason)
                                            VALUES ('ci:p*', 'glob', 'edit %2$d') ON CONFLICT DO NOTHING
                                            """)),
                            Map.entry(
                                    "access_rule",
                                    List.of(
                                            "UPDATE broker.access_rule SET enabled = NOT enabled WHERE tenant = '%1$s'",
                                            "UPDATE broker.access_rule SET max_access = 3600 + %2$d WHERE tenant = '%1$s'")),
                            Map.entry(
                                    "access_approver",
                                    List.of(
                                            """
                                            INSERT INTO broker.access_approver (rule, idp, subject)
                                            SELECT r.id, r.idp, 'boss-%2$d' FROM broker.access_rule AS r WHERE r.tenant = '%1$s' ON CONFLICT DO NOTHING
                                            """,
                                            "DELETE FROM broker.access_approver WHERE tenant = '%1$s' AND subject IS NOT NULL")),
                            Map.entry(
                                    "provider_type",
                                    List.of(
                                            "UPDATE broker.provider_type SET min_duration = 60 + %2$d WHERE type = 'jwt'")),
                            Map.entry(
                                    "known_issuer",
                                    List.of(
                                            "UPDATE broker.known_issuer SET project_wildcard = project_wildcard")),
                            Map.entry(
                                    "shared_issuer",
                                    List.of(
                                            """
                                            INSERT INTO broker.shared_issuer (issuer, owner_claims)
                                            VALUES ('https://shared%2$d.example.com', '{org}') ON CONFLICT DO NOTHING
                                            """,
                                            "DELETE FROM broker.shared_issuer WHERE issuer = 'https://shared%2$d.example.com'")),
                            Map.entry(
                                    "tenant_admin",
                                    List.of(
                                            "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('%1$s', 'test_tenant_admin') ON CONFLICT DO NOTHING",
                                            "DELETE FROM broker.tenant_admin WHERE tenant = '%1$s'")),
                            Map.entry(
                                    "console_access",
                                    List.of(
                                            "INSERT INTO broker.console_access (tenant, claim, value) VALUES ('%1$s', 'groups', '\"leads-%2$d\"') ON CONFLICT DO NOTHING",
                                            "DELETE FROM broker.console_access WHERE tenant = '%1$s'")),
                            Map.entry(
                                    "grant_review",
                                    List.of(
                                            """
                                            INSERT INTO broker.grant_review (grant_id, verdict)
                                            SELECT g.id, CASE WHEN %2$d < 3 THEN 'remove' ELSE 'keep' END
                                              FROM broker.subject_grant AS g WHERE g.tenant = '%1$s' AND g.enabled AND g.request_id IS NULL LIMIT 1
                                            """)),
                            Map.entry(
                                    "ended_credential",
                                    List.of(
                                            """
                                            INSERT INTO broker.ended_credential (mint_id, reason)
                                            SELECT e.mint_id, 'edit %2$d' FROM audit.event AS e WHERE e.tenant = '%1$s' AND e.kind = 'ended' LIMIT 1
                                            """)),
                            Map.entry(
                                    "access_request",
                                    List.of(
                                            """
                                            SELECT internal.request_access('%1$s', 'ci-%1$s', 'ci:pull', '{}', NULL, NULL, '{api}',
                                                                           'The export is stuck', 3600, true)
                                            """,
                                            """
                                            SELECT internal.request_access('%1$s', 'ci-%1$s', 'ci:main', '{}', NULL, NULL, '{api}',
                                                                           'The export is stuck', 3600, false)
                                            """)),
                            Map.entry(
                                    "access_decision",
                                    List.of(
                                            """
                                            INSERT INTO broker.access_decision (request, verdict)
                                            SELECT q.id, CASE WHEN %2$d < 3 THEN 'refuse' ELSE 'approve' END FROM broker.access_request AS q WHERE q.tenant = '%1$s' AND q.status = 'pending' LIMIT 1
                                            """))));

    private AnyEdit() {}
}
