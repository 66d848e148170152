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
        /** Reports it, and mints nothing until an operator has acknowledged it. */
        STOP
    }

    private static final String NAME = "audit.signing-key-file";
    private static final String PURPOSE =
            "Keys that sign checkpoints of the audit log, P-256, PEM. Required without"
                    + " `AUDIT_SIGNING_KEYS`.";

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
                    "The same as PKCS#11 URIs: the last key signs, those before it and those of the"
                            + " file are accepted.");

    static final Setting<Path> CELL_KEYS_FILE =
            Setting.of(
                    "audit.cell-keys-file",
                    Formats.FILE,
                    "Public audit keys of other cells, PEM. `mintmark tenant import` takes in only"
                            + " tenants whose file one of them signed, and `mintmark audit verify`"
                            + " checks by them that moved tenants came from there.");

    static final Setting<Path> NOTE_KEY_FILE =
            Setting.of(
                    "audit.note-key-file",
                    Formats.FILE.hint(
                            ", with an Ed25519 key: openssl genpkey -algorithm ed25519 -out FILE"),
                    "Key that signs notes about the log's tree for witnesses, Ed25519, PEM. Default:"
                            + " `audit-note.pem` beside `AUDIT_SIGNING_KEY_FILE`, made at the first"
                            + " start if the directory can be written.");

    static final Setting<Pkcs11Uri> NOTE_KEY =
            Setting.of(
                    "audit.note-key",
                    Pkcs11Settings.URI,
                    "PKCS#11 URI of that key, in place of a file.");

    static final Setting<Boolean> KEY_REPLACED =
            Setting.of(
                    "audit.key-replaced",
                    Formats.BOOLEAN,
                    "false",
                    "Whether startup accepts a file without the key of the last checkpoint, because"
                            + " that key is lost.");

    static final Setting<Path> WITNESS_POLICY =
            Setting.of(
                    "audit.witness-policy",
                    Formats.FILE,
                    "Witnesses that cosign the log's checkpoints after they are sealed, in the format"
                            + " of c2sp.org/tlog-policy: the log's own key, witnesses with their URLs,"
                            + " groups and a quorum. If a witness knows a longer or another history,"
                            + " the broker acts as `AUDIT_ON_LOSS` says.");

    static final Setting<OnLoss> ON_LOSS =
            Setting.of(
                    "audit.on-loss",
                    Formats.oneOf(OnLoss.class),
                    "stop",
                    "If the database lost rows that a replica had written or read, after a restore or a"
                            + " promotion: with `stop`, no replica mints until `mintmark audit"
                            + " acknowledge-loss`; `alert` continues, also on grants that were"
                            + " revoked.");

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
