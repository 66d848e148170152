package io.mintmark.base.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The audit log's proof.
 *
 * @param signingKeyFile PEM; its contents are for the audit log to check
 * @param signingKeys keys in a PKCS#11 token, which follow those of the file; one of the two is set
 * @param noteKeyFile PEM; without it and a key in a token, one is made beside the signing key
 * @param noteKey in a PKCS#11 token, in place of the file
 * @param witnessPolicy the witnesses that are asked; its contents are for the audit log to check
 * @param onLoss what a replica does when the database lost rows that it had written or read
 * @param keyReplaced whether the key of the last checkpoint is lost, and another one may go on
 */
public record AuditSettings(
        Optional<Path> signingKeyFile,
        List<Pkcs11Uri> signingKeys,
        Optional<Path> noteKeyFile,
        Optional<Pkcs11Uri> noteKey,
        boolean keyReplaced,
        Optional<Path> witnessPolicy,
        OnLoss onLoss) {
    public AuditSettings {
        signingKeys = List.copyOf(signingKeys);
    }

    /** The reaction of a replica to a loss of rows. */
    public enum OnLoss {
        /** Logs and counts it, and goes on. */
        ALERT,
        /** Reports the loss, and mints nothing until an operator has acknowledged it. */
        STOP
    }

    private static final String NAME = "audit.signing-key-file";
    private static final String PURPOSE =
            "File with the audit keys, which sign checkpoints: P-256 private keys in"
                    + " PEM. Required unless `AUDIT_SIGNING_KEYS` is set.";

    static final Setting<Path> SIGNING_KEY_FILE =
            Setting.of(
                    NAME,
                    Formats.FILE.hint(
                            ", with a P-256 key: openssl genpkey -algorithm EC -pkeyopt"
                                    + " ec_paramgen_curve:P-256 -out FILE"),
                    PURPOSE);

    /** The setting with advice for auditors, who must not create a new key. */
    private static final Setting<Path> KEY_TO_TRUST =
            Setting.of(
                    NAME,
                    Formats.FILE.hint(
                            ". Auditors use --keys FILE instead, with the public keys that an"
                                    + " operator exports: openssl pkey -in KEY_FILE -pubout -out"
                                    + " FILE"),
                    PURPOSE);

    static final Setting<List<Pkcs11Uri>> SIGNING_KEYS =
            Setting.of(
                    "audit.signing-keys",
                    Pkcs11Settings.URI.list(),
                    "Audit keys as PKCS#11 URIs. The last key signs. The broker accepts the"
                            + " other keys and the keys in `AUDIT_SIGNING_KEY_FILE`.");

    static final Setting<Path> CELL_KEYS_FILE =
            Setting.of(
                    "audit.cell-keys-file",
                    Formats.FILE,
                    "File with the public audit keys of other cells, in PEM. `mintmark"
                            + " tenant import` imports a tenant only if one of these keys signed the"
                            + " file. `mintmark audit verify` uses the keys to check from which cell a"
                            + " tenant moved.");

    static final Setting<Path> NOTE_KEY_FILE =
            Setting.of(
                    "audit.note-key-file",
                    Formats.FILE.hint(
                            ", with an Ed25519 key: openssl genpkey -algorithm ed25519 -out FILE"),
                    "File with the Ed25519 private key, in PEM, that signs notes for"
                            + " witnesses. Default: `audit-note.pem` in the directory of"
                            + " `AUDIT_SIGNING_KEY_FILE`. If the broker can write to this directory,"
                            + " it creates the default file at its first start.");

    static final Setting<Pkcs11Uri> NOTE_KEY =
            Setting.of(
                    "audit.note-key",
                    Pkcs11Settings.URI,
                    "PKCS#11 URI of the key that signs notes, instead of"
                            + " `AUDIT_NOTE_KEY_FILE`.");

    static final Setting<Boolean> KEY_REPLACED =
            Setting.of(
                    "audit.key-replaced",
                    Formats.BOOLEAN,
                    "false",
                    "Whether the broker starts without the key of the last checkpoint. Set"
                            + " this only if the key is lost.");

    static final Setting<Path> WITNESS_POLICY =
            Setting.of(
                    "audit.witness-policy",
                    Formats.FILE,
                    "File with the witness policy, in the format of c2sp.org/tlog-policy:"
                            + " the log's own key, the witnesses with their URLs, groups and a quorum."
                            + " The witnesses cosign each checkpoint after the broker has signed it."
                            + " If a witness knows a longer or another history of the log, the broker"
                            + " does what `AUDIT_ON_LOSS` says.");

    static final Setting<OnLoss> ON_LOSS =
            Setting.of(
                    "audit.on-loss",
                    Formats.oneOf(OnLoss.class),
                    "stop",
                    "If a restore or a promotion lost rows that a replica had written or"
                            + " read: with `stop`, no replica mints until you declare or acknowledge"
                            + " the loss (`mintmark audit restored` says how). With `alert`, replicas continue to mint, even with"
                            + " grants whose revocation was lost.");

    static final List<Setting<?>> TABLE =
            List.of(
                    SIGNING_KEY_FILE,
                    SIGNING_KEYS,
                    CELL_KEYS_FILE,
                    NOTE_KEY_FILE,
                    NOTE_KEY,
                    KEY_REPLACED,
                    WITNESS_POLICY,
                    ON_LOSS);

    static AuditSettings from(Values values) {
        return from(values, SIGNING_KEY_FILE);
    }

    static AuditSettings keyToTrust(Values values) {
        return from(values, KEY_TO_TRUST);
    }

    private static AuditSettings from(Values values, Setting<Path> file) {
        Pkcs11Settings.require(values, SIGNING_KEYS);
        Pkcs11Settings.require(values, NOTE_KEY);
        if (values.find(NOTE_KEY).isPresent() && values.find(NOTE_KEY_FILE).isPresent()) {
            throw new InvalidSettings(
                    "AUDIT_NOTE_KEY and AUDIT_NOTE_KEY_FILE are both set: remove one of them");
        }
        Optional<List<Pkcs11Uri>> keys = values.find(SIGNING_KEYS);
        if (keys.isEmpty()) {
            values.require(List.of(file));
        }
        return new AuditSettings(
                values.find(file),
                keys.orElse(List.of()),
                values.find(NOTE_KEY_FILE),
                values.find(NOTE_KEY),
                values.get(KEY_REPLACED),
                values.find(WITNESS_POLICY),
                values.get(ON_LOSS));
    }
}
