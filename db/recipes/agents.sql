-- Agents that act for people: the issuer of the agents' tokens, and which agent may use which key for which person.
\set SHOW_CONTEXT never

-- Tokens of this identity provider only identify actors. Without a person's token, they get nothing.
-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if the names should not be public.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts, listed)
VALUES ('acme-agents', 'acme', 'https://agents.acme.example', '{mintmark-acme-agents}', '{actor}', false);

-- The grant applies only to requests with both tokens. For requests with one token, Grace and the agent need grants of their own.
-- To ask the person each time, leave out this grant and write a rule with consent instead (approvals.sql).
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, actor_claims, max_duration, reason)
VALUES ('acme', 'acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', 'read',
        'acme-agents', 'agent:release-bot', '{"team": "release"}', 900, 'OPS-20: the release bot reads for Grace');

-- Which keys would this pair get?
SELECT key, granted, grant_id, condition, expected, seen
  FROM broker.explain('acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', '{}',
                      'acme-agents', 'agent:release-bot', '{"team": "release"}');

-- To stop an agent immediately, for all people, block its subject (block_subject.sql).
