-- A third step of a mint: its credential has ended, and how. The columns and so the canonical form stay the same.

ALTER TABLE audit.event
    DROP CONSTRAINT requested_is_step_1_and_the_outcome_step_2,
    DROP CONSTRAINT all_but_rejected_tell_who_asked_for_what,
    DROP CONSTRAINT a_mint_tells_its_provider_and_its_grant,
    DROP CONSTRAINT what_goes_wrong_has_a_reason,
    ADD CONSTRAINT requested_is_step_1_the_outcome_step_2_and_ended_step_3
        CHECK (step = CASE WHEN kind = 'requested' THEN 1
                           WHEN kind IN ('issued', 'failed', 'withheld', 'denied', 'rejected') THEN 2
                           WHEN kind = 'ended' THEN 3
                           ELSE 0 END),
    ADD CONSTRAINT all_but_rejected_and_ended_tell_who_asked_for_what
        CHECK (kind IN ('rejected', 'ended')
               OR request_id IS NOT NULL AND tenant IS NOT NULL AND idp IS NOT NULL
              AND issuer IS NOT NULL AND subject IS NOT NULL AND key IS NOT NULL),
    ADD CONSTRAINT all_but_refusals_and_ends_tell_their_provider_and_grant
        CHECK (kind IN ('denied', 'rejected', 'ended')
               OR provider IS NOT NULL AND provider_type IS NOT NULL
              AND grant_id IS NOT NULL AND grant_revision IS NOT NULL),
    ADD CONSTRAINT what_goes_wrong_or_ends_has_a_reason
        CHECK ((reason IS NOT NULL) = (kind IN ('failed', 'withheld', 'denied', 'rejected', 'ended'))),
    ADD CONSTRAINT an_end_tells_how_and_of_what_and_repeats_nothing_else
        CHECK (kind <> 'ended'
               OR reason IN ('over', 'asked_for', 'undone', 'swept', 'disarmed')
              AND tenant IS NOT NULL AND key IS NOT NULL AND provider IS NOT NULL AND provider_type IS NOT NULL
              AND num_nonnulls(request_id, idp, issuer, subject, grant_id, grant_revision, issued_at, expires_at,
                               token_id, token_hash, claims, client_address, user_agent) = 0);
COMMENT ON COLUMN audit.event.step IS '1: requested. 2: the one outcome. 3: ended.';
COMMENT ON COLUMN audit.event.kind IS
    'requested (before the provider is called), then issued (before the answer leaves), failed or withheld (obtained, not handed out); or denied (no grant, no key); or rejected (token not accepted). Later perhaps ended: the credential does not work any more, and nothing but what detail names is left of it at its provider.';
COMMENT ON COLUMN audit.event.reason IS
    'Why it failed, was withheld, denied or rejected, in a stable word. For ended, how: over (its time was over), asked_for (an admin asked), undone (it was never handed out), swept (the provider still listed it), disarmed (it does not work, but something is left).';
COMMENT ON COLUMN audit.event.detail IS
    'The same for people, with the provider''s own words. For overflow: how many. For disarmed: what is left.';

-- Only ends pay for it. An end may come long after its mint, so mint_id does not bound its time.
CREATE INDEX ends_by_time ON audit.event (occurred_at) WHERE kind = 'ended';

ALTER TABLE broker.provider_type ADD COLUMN leaves_behind boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN broker.provider_type.leaves_behind IS
    'Whether its mints leave something at the provider that the broker removes after their end, such as a login. If so, audit.unended lists them until they are recorded as ended.';
