-- A limit on what one tenant may ask for.

ALTER TABLE broker.tenant
    ADD COLUMN max_requests int,
    ADD CONSTRAINT max_requests_is_positive CHECK (max_requests > 0);
COMMENT ON COLUMN broker.tenant.max_requests IS
    'How many requests with a valid token each replica answers for it a minute. If null, there is no limit.';
