-- Lint: what well-known issuers send, and what was found in grants and blocked subjects when they were written.

CREATE TABLE broker.known_issuer (
    issuer_pattern text COLLATE "C" NOT NULL,
    name text NOT NULL,
    subject_forms text[] NOT NULL,
    claims jsonb NOT NULL,
    claim_forms jsonb,
    project_claims text[] NOT NULL,
    project_wildcard int NOT NULL,
    jwks_uri text,
    algorithms text[],
    subject_claims jsonb NOT NULL DEFAULT '[]',
    mistakes jsonb NOT NULL DEFAULT '[]',
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT an_issuer_pattern_is_listed_once PRIMARY KEY (issuer_pattern),
    CONSTRAINT subject_forms_are_a_list_of_globs
        CHECK (internal.is_list(subject_forms, 512)),
    CONSTRAINT claims_have_the_type_string_number_or_boolean
        CHECK (jsonb_typeof(claims) = 'object'
               AND NOT jsonb_path_exists(claims, '$.* ? (!(@ == "string" || @ == "number" || @ == "boolean"))')),
    CONSTRAINT claim_forms_are_lists_of_globs
    CHECK (jsonb_typeof(claim_forms) = 'object'
           AND NOT jsonb_path_exists(claim_forms, 'strict $.* ? (@.type() != "array" || @.size() == 0)')
           AND NOT jsonb_path_exists(claim_forms, '$.*[*] ? (@.type() != "string")')),
    CONSTRAINT subject_claims_are_a_list CHECK (jsonb_typeof(subject_claims) = 'array'),
    CONSTRAINT mistakes_are_a_list CHECK (jsonb_typeof(mistakes) = 'array'),
    CONSTRAINT a_wildcard_is_counted_from_1_and_0_is_none CHECK (project_wildcard >= 0)
);
ALTER TABLE broker.known_issuer ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.known_issuer IS
    'The form of the tokens of well-known issuers, for the warnings in broker.lint. Filled by migrations.';
COMMENT ON COLUMN broker.known_issuer.issuer_pattern IS 'A glob over the iss claim of its tokens.';
COMMENT ON COLUMN broker.known_issuer.name IS 'The product, for people.';
COMMENT ON COLUMN broker.known_issuer.subject_forms IS 'Globs. The sub claim of each of its tokens matches one of them.';
COMMENT ON COLUMN broker.known_issuer.claims IS
    'The claims that its tokens may have, {"name": "string", "number" or "boolean"}, beside those that all tokens have. A name may be a JSON pointer, or a glob. For a claim with a list, the type of its elements.';
COMMENT ON COLUMN broker.known_issuer.claim_forms IS
    'The values of claims, {"name": ["form", …]}: globs, # for digits, or *-*-*-*-* for a UUID. A claim that is not listed may have any value; null: every claim may.';
COMMENT ON COLUMN broker.known_issuer.project_claims IS
    'Claims that name one repository, project, pipeline or namespace of an organisation.';
COMMENT ON COLUMN broker.known_issuer.project_wildcard IS
    'Which wildcard of each form, counted from 1, stands for that repository, project, pipeline or namespace; 0: none does.';

COMMENT ON COLUMN broker.known_issuer.jwks_uri IS 'Where its keys are; null: each issuer of this pattern has a URL of its own.';
COMMENT ON COLUMN broker.known_issuer.algorithms IS 'The algorithms that it signs with; null: not known.';
COMMENT ON COLUMN broker.known_issuer.subject_claims IS
    'The claims that a subject or the issuer repeats, as a list of {"form": regular expression, "claims": the claim of each of its groups}. The first form that matches applies. With "in": the claim, not the subject, that has this form and repeats other claims.';
COMMENT ON COLUMN broker.known_issuer.mistakes IS
    'Values that look right and never match, as a list of {"in": "subject", "issuer" or the name of a claim, "form": regular expression, "match": "exact" or "glob" if the mistake is in only one of the two, "advice": what the issuer sends, and what to write}. Those of issuers are compared with every identity provider.';

CREATE TABLE internal.lint_finding (
    table_name text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    tenant text COLLATE "C",
    rule text NOT NULL,
    detail text
);
COMMENT ON TABLE internal.lint_finding IS
    'The findings of lint in grants and blocked subjects. Stored by triggers, because a tenant may have a million rows. Read broker.lint instead.';
COMMENT ON COLUMN internal.lint_finding.table_name IS 'subject_grant or blocked_subject.';
COMMENT ON COLUMN internal.lint_finding.id IS 'The id of the row.';
COMMENT ON COLUMN internal.lint_finding.tenant IS 'The tenant of the row; null for a block in all tenants.';
COMMENT ON COLUMN internal.lint_finding.rule IS 'As in broker.lint.';
COMMENT ON COLUMN internal.lint_finding.detail IS 'The part of the row that the rule is about; internal.lint_advice shows it.';
CREATE INDEX findings_of_a_tenant ON internal.lint_finding (tenant, table_name);
CREATE INDEX findings_of_a_row ON internal.lint_finding (table_name, id);
ALTER TABLE internal.lint_finding ENABLE ROW LEVEL SECURITY;
