package io.mintmark.audit.checkpoint;

import io.mintmark.audit.note.NoteSigner;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.audit.note.WitnessPolicy.Witness;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.start.StartFailed;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds the witnesses that this log's broker asks. */
public final class OwnWitnesses {
    private static final String SETTING = "AUDIT_WITNESS_POLICY";

    private OwnWitnesses() {}

    /**
     * The policy; empty if the settings name none.
     *
     * @throws StartFailed if it is of another log, or the broker can't meet it
     */
    public static Optional<WitnessPolicy> of(SealingKeys keys, AuditSettings settings) {
        return settings.witnessPolicy().map(file -> read(file, keys));
    }

    private static WitnessPolicy read(Path file, SealingKeys keys) {
        WitnessPolicy policy = WitnessPolicy.read(file, SETTING, StartFailed::new);
        NoteSigner own =
                keys.notes()
                        .orElseThrow(() ->
                                new StartFailed(
                                        "%s: checkpoints have no notes, so witnesses have nothing to sign; set AUDIT_NOTE_KEY_FILE, and BROKER_ISSUER or BROKER_URL"
                                                .formatted(SETTING)));
        if (!policy.hasLogOf(own.key(1))) {
            throw new StartFailed(
                    "%s: '%s' does not list this log; add the line: log %s"
                            .formatted(SETTING, file, own.key(1).text()));
        }
        List<String> asked =
                policy.witnesses().stream()
                        .filter(witness -> witness.url().isPresent())
                        .map(Witness::name)
                        .toList();
        if (asked.isEmpty()) {
            throw new StartFailed(
                    "%s: '%s' has no witness with a URL, so no witness can be asked; add the URL of a witness"
                            .formatted(SETTING, file));
        }
        if (!policy.isMet(asked)) {
            throw new StartFailed(
                    "%s: the quorum of '%s' can't be met, because witnesses without a URL aren't asked; add URLs, or lower the quorum"
                            .formatted(SETTING, file));
        }
        return policy;
    }
}
