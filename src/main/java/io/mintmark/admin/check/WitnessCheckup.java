package io.mintmark.admin.check;

import io.mintmark.audit.checkpoint.NoteKeys;
import io.mintmark.audit.checkpoint.OwnWitnesses;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.audit.note.WitnessPolicy.Witness;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.pkcs11.HeldKeys;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Checks the key of notes and lists the witnesses that the broker would ask, without asking them.
 */
final class WitnessCheckup {
    private WitnessCheckup() {}

    /**
     * Names them in a line; none without a policy.
     *
     * @throws io.mintmark.base.start.StartFailed if a start would
     */
    static List<String> facts(
            SealingKeys keys, AuditSettings audit, HeldKeys held, BrokerSettings broker) {
        if (audit.witnessPolicy().isEmpty() && audit.noteKey().isEmpty()) {
            return List.of();
        }
        SealingKeys noted = NoteKeys.find(keys, audit, held, broker.issuer().or(broker::url));
        Optional<WitnessPolicy> policy = OwnWitnesses.of(noted, audit);
        return policy
                .map(it ->
                        "AUDIT_WITNESS_POLICY: checkpoints are sent to the witnesses "
                                + it.witnesses().stream()
                                        .filter(witness -> witness.url().isPresent())
                                        .map(Witness::name)
                                        .collect(Collectors.joining(", ")))
                .stream()
                .toList();
    }
}
