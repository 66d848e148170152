-- What auditors ask most, as views. They run with the reader's rights, so a tenant's admins see their tenant's.

CREATE OR REPLACE VIEW audit.mint WITH (security_invoker = true) AS
SELECT r.mint_id,
       r.request_id,
       r.tenant,
       r.idp,
       r.issuer,
       r.subject,
       r.key,
       r.provider,
       r.provider_type,
       r.occurred_at AS requested_at,
       o.kind AS outcome,
       o.occurred_at AS outcome_at,
       o.reason,
       o.detail,
       o.credential_id,
       o.issued_at,
       CASE WHEN o.mint_id IS NULL THEN r.expires_at ELSE o.expires_at END AS expires_at,
       r.grant_id,
       r.grant_revision,
       g.after AS grant_then,
       g.after ->> 'created_by' AS grant_made_by,
       (g.after ->> 'created_at')::timestamptz AS grant_made_at,
       g.changed_by AS grant_changed_by,
       g.changed_at AS grant_changed_at,
       g.after ->> 'approved_by' AS grant_approved_by,
       (g.after ->> 'request_id')::uuid AS access_request,
       r.token_id,
       r.token_hash,
       r.claims,
       r.actor_idp,
       r.actor_issuer,
       r.actor,
       r.actor_claims,
       r.actor_token_id,
       r.actor_token_hash,
       r.client_address,
       r.user_agent,
       r.broker,
       r.chain,
       r.seq,
       o.chain AS outcome_chain,
       o.seq AS outcome_seq,
       d.occurred_at AS ended_at,
       d.reason AS ended_how,
       d.detail AS ended_detail
  FROM audit.event AS r
  LEFT JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.step = 2
  LEFT JOIN audit.event AS d ON d.mint_id = r.mint_id AND d.step = 3
  LEFT JOIN LATERAL (
       SELECT c.after, c.changed_by, c.changed_at
         FROM audit.config_change AS c
        WHERE c.table_name = 'subject_grant'
          AND coalesce(c.after, c.before) ->> 'id' = r.grant_id::text
          AND c.revision <= r.grant_revision
          AND c.tenant = r.tenant
        ORDER BY c.revision DESC
        LIMIT 1) AS g ON true
 WHERE r.step = 1;
COMMENT ON VIEW audit.mint IS
    'One row for each mint: the subject, the outcome, and the grant at that time. Denied and rejected requests are in audit.denial.';
COMMENT ON COLUMN audit.mint.requested_at IS 'When the intent was recorded.';
COMMENT ON COLUMN audit.mint.outcome IS 'issued, failed or withheld; null while it is unresolved.';
COMMENT ON COLUMN audit.mint.outcome_at IS 'When the outcome was recorded.';
COMMENT ON COLUMN audit.mint.expires_at IS
    'When the credential expires; without outcome, the latest time at which a credential could be valid.';
COMMENT ON COLUMN audit.mint.ended_at IS
    'When the broker ended the credential, or found that it no longer works; null without such proof: see expires_at.';
COMMENT ON COLUMN audit.mint.ended_how IS
    'over (expired), asked_for (an admin ended it), undone (never handed out, and revoked), swept (the provider still listed it after its end, so the broker removed it), disarmed (it no longer works, but something is left at the provider).';
COMMENT ON COLUMN audit.mint.ended_detail IS 'How the credential ended, for people; for disarmed: what is left at the provider.';
COMMENT ON COLUMN audit.mint.grant_then IS 'The row of broker.subject_grant that allowed the mint, at that time.';
COMMENT ON COLUMN audit.mint.grant_made_by IS 'The login that created the grant.';
COMMENT ON COLUMN audit.mint.grant_made_at IS 'When the grant was created.';
COMMENT ON COLUMN audit.mint.grant_changed_by IS 'The login that last changed the grant before the mint.';
COMMENT ON COLUMN audit.mint.grant_approved_by IS
    'The login that approved the grant as a second admin, or who approved its request; null: no one did.';
COMMENT ON COLUMN audit.mint.access_request IS 'The request in audit.access_request that led to the grant; null: a login wrote it.';
COMMENT ON COLUMN audit.mint.grant_changed_at IS 'When that login changed the grant.';

CREATE OR REPLACE VIEW audit.unresolved WITH (security_invoker = true) AS
SELECT r.mint_id, r.request_id, r.tenant, r.idp, r.issuer, r.subject, r.key, r.provider, r.provider_type,
       r.occurred_at AS requested_at, r.expires_at AS credential_may_exist_until, r.grant_id, r.grant_revision,
       r.token_id, r.token_hash, r.actor_idp, r.actor_issuer, r.actor, r.client_address, r.user_agent, r.broker
  FROM audit.open_mint AS open
  JOIN audit.event AS r ON r.mint_id = open.mint_id AND r.step = 1
 WHERE NOT EXISTS (SELECT FROM audit.event AS o WHERE o.mint_id = open.mint_id AND o.step = 2);
COMMENT ON VIEW audit.unresolved IS
    'Mints without outcome: in flight, or the broker died before the outcome. Only the provider knows whether a credential exists. Includes mints that are recorded as ended; audit.active_credential omits them.';
COMMENT ON COLUMN audit.unresolved.credential_may_exist_until IS
    'After this time no credential of the mint can be valid.';

CREATE OR REPLACE VIEW audit.active_credential WITH (security_invoker = true) AS
SELECT a.mint_id, a.tenant, a.subject, a.actor_idp, a.actor, a.key, a.provider, a.provider_type, a.outcome, a.credential_id,
       a.issued_at, a.expires_at, a.grant_id, a.grant_revision, a.request_id, a.client_address, a.reason
  FROM (SELECT o.mint_id, o.tenant, o.subject, o.actor_idp, o.actor, o.key, o.provider, o.provider_type, o.kind AS outcome, o.credential_id,
               o.issued_at, o.expires_at, o.grant_id, o.grant_revision, o.request_id, o.client_address, o.reason
          FROM audit.event AS o
         WHERE o.expires_at > now() AND o.kind IN ('issued', 'withheld')
        UNION ALL
        SELECT o.mint_id, o.tenant, o.subject, o.actor_idp, o.actor, o.key, o.provider, o.provider_type, o.kind, NULL AS credential_id,
               NULL AS issued_at, r.expires_at, o.grant_id, o.grant_revision, o.request_id, o.client_address, o.reason
          FROM audit.event AS o
          JOIN audit.event AS r ON r.mint_id = o.mint_id AND r.step = 1
         WHERE r.expires_at > now()
           AND o.kind = 'failed' AND o.reason IN ('provider_timeout', 'provider_unreachable')
        UNION ALL
        SELECT u.mint_id, u.tenant, u.subject, u.actor_idp, u.actor, u.key, u.provider, u.provider_type, 'unresolved' AS outcome, NULL AS credential_id,
               NULL AS issued_at, u.credential_may_exist_until, u.grant_id, u.grant_revision, u.request_id, u.client_address,
               NULL AS reason
          FROM audit.unresolved AS u
         WHERE u.credential_may_exist_until > now()) AS a
 -- looked up for each: there is no index of ended mints, so a join may read the whole log
 WHERE NOT EXISTS (SELECT FROM audit.event AS d WHERE d.mint_id = a.mint_id AND d.step = 3 OFFSET 0);
COMMENT ON VIEW audit.active_credential IS
    'Credentials that are or may be valid: issued, withheld (obtained and dropped), unresolved, and failed if the provider may have made a credential. Omits credentials that are recorded as ended.';
COMMENT ON COLUMN audit.active_credential.outcome IS
    'issued, withheld: the credential was obtained. unresolved, failed: it may exist, only the provider knows.';
COMMENT ON COLUMN audit.active_credential.expires_at IS
    'When the credential expires; if it is unknown whether it exists, the latest time at which it could be valid.';
COMMENT ON COLUMN audit.active_credential.reason IS
    'The reason code of a withheld or failed mint (provider_timeout or provider_unreachable).';

-- The first part is short. The second reads every mint of such a type: bound it by mint_id.
CREATE OR REPLACE VIEW audit.unended WITH (security_invoker = true) AS
SELECT u.mint_id, u.tenant, u.subject, u.key, u.provider, u.provider_type, u.outcome, u.reason, u.credential_id,
       u.unwanted_since, u.works_until, e.tries, concat_ws(': ', e.last_reason, e.last_detail) AS last_failure, e.next_try
  FROM (SELECT a.mint_id, a.tenant, a.subject, a.key, a.provider, a.provider_type, a.outcome, a.reason, a.credential_id,
               CASE WHEN a.outcome = 'issued' THEN early.due ELSE coalesce(o.occurred_at, r.occurred_at) END AS unwanted_since,
               a.expires_at AS works_until
          FROM audit.active_credential AS a
          JOIN audit.event AS r ON r.mint_id = a.mint_id AND r.step = 1
          LEFT JOIN audit.event AS o ON o.mint_id = a.mint_id AND o.step = 2
          LEFT JOIN work.ending AS early ON early.mint_id = a.mint_id AND early.early
         WHERE (a.outcome <> 'issued' OR early.mint_id IS NOT NULL)
           -- without outcome for longer than a mint takes
           AND (o.mint_id IS NOT NULL OR r.occurred_at < now() - interval '2 minutes')
        UNION ALL
        SELECT r.mint_id, r.tenant, r.subject, r.key, r.provider, r.provider_type, coalesce(o.kind, 'unresolved'), o.reason, o.credential_id,
               CASE WHEN o.kind = 'issued' THEN o.expires_at ELSE coalesce(o.occurred_at, r.occurred_at) END, NULL AS works_until
          FROM audit.event AS r
          JOIN broker.provider_type AS t ON t.type = r.provider_type AND t.leaves_behind
          LEFT JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.step = 2
         WHERE r.step = 1
           AND (o.kind IS NULL OR o.kind <> 'failed' OR o.reason IN ('provider_timeout', 'provider_unreachable'))
           AND CASE WHEN o.kind IN ('issued', 'withheld') THEN o.expires_at ELSE r.expires_at END <= now()
           AND NOT EXISTS (SELECT FROM audit.event AS d WHERE d.mint_id = r.mint_id AND d.step = 3)) AS u
  LEFT JOIN work.ending AS e ON e.mint_id = u.mint_id;
COMMENT ON VIEW audit.unended IS
    'Mints whose credential should have ended, without proof of the end: never handed out and possibly valid, ended by an admin, or expired and of a type that leaves something at its provider (broker.provider_type.leaves_behind).';
COMMENT ON COLUMN audit.unended.outcome IS 'As in audit.active_credential.';
COMMENT ON COLUMN audit.unended.reason IS 'The reason code of a withheld or failed mint.';
COMMENT ON COLUMN audit.unended.unwanted_since IS
    'Since when the credential should no longer work: the time of the outcome if the credential was never handed out, the time of the request if an admin asked to end it, otherwise its expiry.';
COMMENT ON COLUMN audit.unended.works_until IS
    'When the credential expires; null: it has expired, and the broker must still remove what is left at the provider.';
COMMENT ON COLUMN audit.unended.tries IS
    'The number of failed tries to end it; null: the broker never tries, because the type leaves nothing behind.';
COMMENT ON COLUMN audit.unended.last_failure IS 'Why the last try failed; empty if no try has failed.';
COMMENT ON COLUMN audit.unended.next_try IS 'The time of the next try.';

CREATE OR REPLACE VIEW audit.denial WITH (security_invoker = true) AS
SELECT e.mint_id, e.occurred_at, e.kind, e.reason, e.detail, e.tenant, e.idp, e.issuer, e.subject, e.key,
       e.request_id, e.token_id, e.token_hash, e.claims, e.actor_idp, e.actor_issuer, e.actor, e.actor_claims,
       e.actor_token_id, e.actor_token_hash, e.client_address, e.user_agent, e.broker
  FROM audit.event AS e
 WHERE e.kind IN ('denied', 'rejected');
COMMENT ON VIEW audit.denial IS
    'Keys that were denied to a subject, and tokens that were rejected.';

CREATE OR REPLACE VIEW audit.change WITH (security_invoker = true) AS
SELECT c.changed_at, c.changed_by, c.tenant, c.revision, c.table_name, c.operation,
       coalesce(row.it ->> 'name', row.it ->> 'id', row.it ->> 'type', row.it ->> 'issuer_pattern', row.it ->> 'issuer',
                row.it ->> 'mint_id', row.it ->> 'grant_id', row.it ->> 'member', row.it ->> 'role_name') AS name,
       c.before, c.after, c.transaction_id
  FROM audit.config_change AS c
 CROSS JOIN LATERAL (SELECT coalesce(c.after, c.before) AS it) AS row;
COMMENT ON VIEW audit.change IS
    'Each change of the configuration, in every tenant that you may see. Query it WHERE changed_by = … ORDER BY changed_at DESC.';
COMMENT ON COLUMN audit.change.changed_by IS 'The SQL login that made the change.';
COMMENT ON COLUMN audit.change.name IS 'What identifies the row in its table and tenant.';

CREATE OR REPLACE VIEW audit.unused_grant WITH (security_invoker = true) AS
SELECT g.tenant, g.id AS grant_id, g.idp, g.subject, g.match, g.actor_idp, g.actor, g.actor_match, g.key, g.enabled, g.valid_from, g.valid_until,
       g.reason, g.created_at, g.created_by, g.updated_at, g.updated_by, used.last_used_at
  FROM broker.subject_grant AS g
  LEFT JOIN LATERAL (
       SELECT e.occurred_at AS last_used_at
         FROM audit.event AS e
        WHERE e.grant_id = g.id AND e.step = 1
        ORDER BY e.mint_id DESC
        LIMIT 1) AS used ON true
 WHERE g.enabled AND greatest(g.created_at, g.valid_from) < now() - interval '90 days'
   AND (used.last_used_at IS NULL OR used.last_used_at < now() - interval '90 days');
COMMENT ON VIEW audit.unused_grant IS
    'Enabled grants that have been usable for at least 90 days and had no mint in the last 90 days, as far as the log goes back.';
COMMENT ON COLUMN audit.unused_grant.last_used_at IS 'The time of the last mint under the grant; null: never.';
