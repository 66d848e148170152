-- even the owner's hand is stopped at the audit log
DELETE FROM audit.event;
--> audit.event is append-only: DELETE is not allowed.

-- nor at what witnesses signed
UPDATE audit.cosignature SET size = 1;
--> audit.cosignature is append-only: UPDATE is not allowed.

-- which also stays
DELETE FROM audit.cosignature;
--> audit.cosignature is append-only: DELETE is not allowed.

-- and is not emptied
TRUNCATE log.cosignature;
--> audit.cosignature is append-only: TRUNCATE is not allowed.

-- even the owner's hand is stopped at the history
UPDATE audit.config_change SET changed_by = 'alice';
--> audit.config_change is append-only: UPDATE is not allowed.

-- even the owner can not empty a table behind the history's back
TRUNCATE broker.key CASCADE;
--> TRUNCATE broker.key is not allowed, because the change history could not record the removed rows.

-- even the owner can not sign as somebody else
INSERT INTO broker.tenant (name, created_by) VALUES ('third', 'alice') RETURNING created_by;
--> test_owner

-- even the owner is recorded
UPDATE broker.tenant SET display_name = 'A' WHERE name = 'acme'; SELECT changed_by FROM audit.config_change ORDER BY changed_at DESC LIMIT 1;
--> test_owner
