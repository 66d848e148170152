package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.UnusableSecretException;
import io.mintmark.base.tenant.TenantName;

/** The secrets that settings of access providers refer to. They are read at each mint. */
public final class SettingSecrets {
    private final SecretFiles files;

    public SettingSecrets(SecretFiles files) {
        this.files = files;
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
