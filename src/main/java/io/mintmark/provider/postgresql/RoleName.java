package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a mint's role: {@code mm_<mark>_<mint id without hyphens>}. The mark tells the roles
 * of one access provider of one broker from all others on the same server.
 */
record RoleName(String mark, MintId mintId) {
    private static final int MARK_BYTES = 4;
    private static final Pattern FORM =
            Pattern.compile("mm_([0-9a-f]{8})_([0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15})");

    /**
     * The mark of an access provider.
     *
     * @param broker the broker's issuer
     */
    static String mark(String broker, TenantName tenant, ProviderName provider) {
        String named = String.join("\n", broker, tenant.value(), provider.value());
        byte[] hash = Secret.sha256(named.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash, 0, MARK_BYTES);
    }

    /** The name in a text; empty if it isn't one of a mint's role. */
    static Optional<RoleName> of(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        String digits = parts.group(2);
        UUID id =
                new UUID(
                        Long.parseUnsignedLong(digits.substring(0, 16), 16),
                        Long.parseUnsignedLong(digits.substring(16), 16));
        return Optional.of(new RoleName(parts.group(1), new MintId(id)));
    }

    /** The common ending of the names of a mint's roles, whatever their mark. */
    static String ending(MintId mintId) {
        return "_" + mintId.toString().replace("-", "");
    }

    @Override
    public String toString() {
        return "mm_" + mark + ending(mintId);
    }
}
