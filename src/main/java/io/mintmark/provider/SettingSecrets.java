package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.UnusableSecretException;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.pkcs11.TokenKey;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.tenant.TenantName;

/** The secrets that settings of access providers refer to. They are read at each mint. */
public final class SettingSecrets {
    private final SecretFiles files;
    private final HeldKeys held;

    /** Reads secrets from files, and uses keys in a token. */
    public SettingSecrets(SecretFiles files, HeldKeys held) {
        this.files = files;
        this.held = held;
    }

    /** Reads secrets from files alone. */
    public SettingSecrets(SecretFiles files) {
        this(files, HeldKeys.none());
    }

    /**
     * A tenant's key in the token. Its label begins with the tenant's name, so that no tenant signs
     * with the key of another, or with the broker's.
     *
     * @throws UnusableSettingsException if there is none
     * @throws TokenUnavailable if the token doesn't answer
     */
    public TokenKey held(TenantName tenant, String setting, KeyReference.InToken reference) {
        String label = reference.uri().object().orElseThrow();
        if (!label.startsWith(tenant.value() + "/")) {
            throw new UnusableSettingsException(
                    "access provider setting '%s' names the key '%s'; a label must begin with '%s/'"
                            .formatted(setting, label, tenant));
        }
        try {
            return held.key(reference.uri());
        } catch (TokenUnavailable e) {
            if (e.isOfKey()) {
                throw new UnusableSettingsException(
                        "access provider setting '%s' refers to %s"
                                .formatted(setting, e.getMessage()));
            }
            throw e;
        }
    }

    /**
     * The secret of a setting.
     *
     * @param setting name of the setting, for the message
     * @param file what it refers to
     * @throws UnusableSettingsException if there is none
     */
    public Secret read(TenantName tenant, String setting, String file) {
        try {
            return files.read(tenant.value(), file);
        } catch (UnusableSecretException e) {
            throw new UnusableSettingsException(
                    "access provider setting '%s' %s".formatted(setting, e.getMessage()));
        }
    }
}
