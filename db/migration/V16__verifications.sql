-- What verifications of the log found, so that people see when it was last verified, and by whom.

CREATE TABLE log.verification (
    id bigint GENERATED ALWAYS AS IDENTITY,
    began_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    verdict text NOT NULL,
    checkpoint bigint,
    kept_checkpoint bigint,
    rows_read bigint NOT NULL,
    wrong bigint NOT NULL,
    unaccepted bigint NOT NULL,
    findings text[] NOT NULL,
    login text COLLATE "C" NOT NULL,
    program text NOT NULL,
    program_version text NOT NULL,
    viewer text,
    CONSTRAINT a_verification_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT a_verification_takes_up_to_7_days
        CHECK (began_at <= recorded_at AND recorded_at - began_at <= interval '7 days'),
    CONSTRAINT numbers_are_not_negative
        CHECK (checkpoint >= 0 AND kept_checkpoint >= 0 AND rows_read >= 0 AND wrong >= 0 AND unaccepted >= 0),
    CONSTRAINT the_verdict_is_what_the_numbers_say
        CHECK (verdict = CASE WHEN wrong > 0 THEN 'wrong' WHEN unaccepted > 0 THEN 'unaccepted' ELSE 'intact' END),
    CONSTRAINT only_something_wrong_is_known_before_the_end CHECK (checkpoint IS NOT NULL OR wrong > 0),
    CONSTRAINT up_to_10_findings_of_up_to_5000_characters_together_are_kept
        CHECK (cardinality(findings) <= 10 AND array_ndims(findings) IS NOT DISTINCT FROM nullif(least(cardinality(findings), 1), 0)
               AND array_position(findings, NULL) IS NULL AND length(array_to_string(findings, '')) <= 5000),
    CONSTRAINT a_program_is_the_command_line_or_the_console CHECK (program IN ('command line', 'console')),
    CONSTRAINT a_version_has_up_to_100_characters CHECK (length(program_version) <= 100),
    CONSTRAINT only_a_console_has_a_viewer_of_up_to_300_characters
        CHECK ((viewer IS NOT NULL) = (program = 'console') AND length(viewer) <= 300)
);
ALTER TABLE log.verification ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.verification IS
    'Results of verifications by mintmark audit verify and by the console, kept for 400 days. Only internal.record_verification writes them. They prove nothing, because a login can record any result. For proof, verify again.';
COMMENT ON COLUMN log.verification.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN log.verification.began_at IS 'When the verification began: recorded_at less the time that it took.';
COMMENT ON COLUMN log.verification.recorded_at IS 'When the verification had ended, by the database''s clock.';
COMMENT ON COLUMN log.verification.verdict IS
    'As the exit code of audit verify: intact (0), wrong (1): something is wrong, unaccepted (3): declarations or doubts that were not accepted.';
COMMENT ON COLUMN log.verification.checkpoint IS
    'The last valid checkpoint of the log; 0 without any; null: something was wrong, and the verification did not complete.';
COMMENT ON COLUMN log.verification.kept_checkpoint IS
    'The last of the checkpoints that were kept outside the database; null: none were compared, so a removed end of the log was not detected.';
COMMENT ON COLUMN log.verification.rows_read IS 'The number of events and changes that the verification read.';
COMMENT ON COLUMN log.verification.wrong IS 'The number of findings that say that something is wrong.';
COMMENT ON COLUMN log.verification.unaccepted IS 'The number of declarations and doubts that were not accepted.';
COMMENT ON COLUMN log.verification.findings IS 'The first ten findings.';
COMMENT ON COLUMN log.verification.login IS 'The login that recorded the result (session_user), filled by the database.';
COMMENT ON COLUMN log.verification.program IS
    'console if the login is a member of the console''s group role, otherwise command line; filled by the database.';
COMMENT ON COLUMN log.verification.program_version IS 'The release that verified, as the login states it.';
COMMENT ON COLUMN log.verification.viewer IS 'The person who began the verification in the console, as the console states it; null: not in a console.';
CREATE INDEX verifications_of_a_login ON log.verification (login, recorded_at);
CREATE INDEX verifications_by_time ON log.verification (recorded_at);
