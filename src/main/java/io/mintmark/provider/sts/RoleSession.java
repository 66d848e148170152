package io.mintmark.provider.sts;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.UnusableSettingsException;

import java.util.regex.Pattern;

/** The parameters that every STS takes, within the limits of AWS's API reference. */
public final class RoleSession {
    /** The longest session policy. */
    public static final int LONGEST_POLICY = 2048;

    private static final Pattern NAME = Pattern.compile("[\\w+=,.@-]{2,64}");
    private static final String MINT_ID = "{mint_id}";

    private RoleSession() {}

    /**
     * The session's name, which the provider's log shows: the mint id must be in it.
     *
     * @param template with {@code {mint_id}}, and if wanted {@code {tenant}} and {@code {key}}
     */
    public static String name(String template, MintOrder order) {
        return name(template, order.mintId(), order.tenant(), order.key());
    }

    /** The name that the session of a mint has. */
    public static String name(String template, MintId mintId, TenantName tenant, KeyName key) {
        if (!template.contains(MINT_ID)) {
            throw unusable("'%s' must contain {mint_id}".formatted(template));
        }
        String name =
                template.replace(MINT_ID, mintId.toString())
                        .replace("{tenant}", tenant.value())
                        .replace("{key}", key.value());
        if (!NAME.matcher(name).matches()) {
            throw unusable(
                    "gives '%s' with %d characters; it must be 2 to 64 letters, digits and any of _+=,.@-"
                            .formatted(name, name.length()));
        }
        return name;
    }

    private static UnusableSettingsException unusable(String what) {
        return new UnusableSettingsException("key setting 'session_name' " + what);
    }
}
