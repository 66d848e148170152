package io.mintmark.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The audit log's proof.
 *
 * @param signingKeyFile PEM; its contents are for the audit log to check
 */
public record AuditSettings(Path signingKeyFile) {
    static final Setting<Path> SIGNING_KEY_FILE =
            Setting.required(
                    "audit.signing-key-file",
                    Formats.FILE.hint(
                            ", with a P-256 key: openssl genpkey -algorithm EC -pkeyopt"
                                    + " ec_paramgen_curve:P-256 -out FILE"),
                    "Key that seals the audit log, P-256, PEM.");

    static final List<Setting<?>> TABLE = List.of(SIGNING_KEY_FILE);

    static AuditSettings from(Values values) {
        return new AuditSettings(values.get(SIGNING_KEY_FILE));
    }
}
