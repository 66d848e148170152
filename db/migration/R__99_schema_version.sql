-- What a program looks at before it does anything else. The last file to run, so a schema that is only partly there has
-- not this version. docs/schema.md says when a release raises the version (SchemaVersion.OURS), and when oldest_program.

UPDATE runtime.schema_version SET version = ${schema_version}, oldest_program = '0.1.0';
