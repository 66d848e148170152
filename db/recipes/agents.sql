-- Agents that act for people: who issues the agents' tokens, and which agent may have which key for whom.
\set SHOW_CONTEXT never

-- Tokens of this identity provider identify actors only: they get nothing by themselves.
-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if the names should not be public.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts, listed)
VALUES ('acme-agents', 'acme', 'https://agents.acme.example', '{mintmark-acme-agents}', '{actor}', false);

-- The grant is for requests with both tokens. Grace alone needs a grant of her own, and so does the agent.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, actor_claims, max_duration, reason)
VALUES ('acme', 'acme-keycloak', '7b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f', 'read',
        'acme-agents', 'agent:release-bot', '{"team": "release"}', 900, 'OPS-20: the release bot reads for Grace');

-- What would this pair get?
SELECT key, granted, grant_id, condition, expected, seen
  FROM broker.explain('acme-keycloak', '7b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f', '{}',
                      'acme-agents', 'agent:release-bot', '{"team": "release"}');

-- block_subject.sql stops an agent at once, whoever it acts for.
