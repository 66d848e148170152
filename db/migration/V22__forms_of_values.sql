-- What lint compares with: how well-known issuers write the values of claims, and how targets of a type are written.
-- Existing rows get null: verify takes a column without a literal default, in changes from before it was added, as null.

ALTER TABLE broker.known_issuer ADD COLUMN claim_forms jsonb;
COMMENT ON COLUMN broker.known_issuer.claim_forms IS
    'The values of claims, {"name": ["form", …]}: globs, or # for digits. A claim that is not listed may have any value, and all may if null.';
ALTER TABLE broker.known_issuer ADD CONSTRAINT claim_forms_are_lists_of_globs
    CHECK (jsonb_typeof(claim_forms) = 'object'
           AND NOT jsonb_path_exists(claim_forms, 'strict $.* ? (@.type() != "array" || @.size() == 0)')
           AND NOT jsonb_path_exists(claim_forms, '$.*[*] ? (@.type() != "string")'));

ALTER TABLE broker.provider_type ADD COLUMN target_forms text[];
COMMENT ON COLUMN broker.provider_type.target_forms IS 'Globs. Each target that a key of this type can name matches one of them; null if a target may be any text.';
ALTER TABLE broker.provider_type ADD CONSTRAINT target_forms_are_a_list_of_globs CHECK (target_forms IS NULL OR internal.is_list(target_forms, 512));
