package io.mintmark.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The audit log's proof.
 *
 * @param signingKeyFile PEM; its contents are for the audit log to check
 */
public record AuditSettings(Path signingKeyFile) {
    private static final String NAME = "audit.signing-key-file";
    private static final String PURPOSE = "Key that seals the audit log, P-256, PEM.";

    static final Setting<Path> SIGNING_KEY_FILE =
            Setting.required(
                    NAME,
                    Formats.FILE.hint(
                            ", with a P-256 key: openssl genpkey -algorithm EC -pkeyopt"
                                    + " ec_paramgen_curve:P-256 -out FILE"),
                    PURPOSE);

    /** The same as auditors are told of it, who have no use for a new key. */
    private static final Setting<Path> KEY_TO_TRUST =
            Setting.required(
                    NAME,
                    Formats.FILE.hint(
                            "; without it, name the public keys to trust with --keys FILE, which"
                                    + " whoever runs the broker makes with: openssl pkey -in"
                                    + " KEY_FILE -pubout -out FILE"),
                    PURPOSE);

    static final List<Setting<?>> TABLE = List.of(SIGNING_KEY_FILE);

    static AuditSettings from(Values values) {
        return new AuditSettings(values.get(SIGNING_KEY_FILE));
    }

    static Path keyToTrust(Values values) {
        return values.get(KEY_TO_TRUST);
    }
}
