-- What lint finds may change with its rules, the functions that they call, provider types and known issuers. So each
-- release that changes a file lints all rows again: the version below makes Flyway run this file then.

LOCK TABLE internal.lint_finding IN SHARE ROW EXCLUSIVE MODE;
SELECT ${schema_version} AS schema_version,
       internal.keep_findings('subject_grant', ARRAY(SELECT g.id FROM broker.subject_grant AS g)),
       internal.keep_findings('blocked_subject', ARRAY(SELECT b.id FROM broker.blocked_subject AS b));
