-- A class of letters, [ab] or [!ab], stands for itself in a glob, and there it was hardly meant so. Not in other texts, where
-- brackets are letters; nor is [bot] a class, with which the names of apps end at GitHub.

CREATE OR REPLACE FUNCTION internal.other_pattern_in(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(internal.regular_expression_in(pattern),
                    substring(pattern FROM '(\$$|\{[^{},:/]+(?:,[^{},:/]+)+\}|[A-Za-z0-9*_-][?](?=[:/]|$)|%(?=[:/]|$)|\[(?!bot\])(?:[!^][A-Za-z0-9._-]+|[A-Za-z0-9._-]{2,})\])'));

-- It holds what the function said when a row was written.
REINDEX INDEX broker.grants_in_doubt;

UPDATE runtime.schema_version SET version = greatest(version, 27);
