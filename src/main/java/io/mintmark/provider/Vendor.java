package io.mintmark.provider;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A cloud whose accounts accept the broker's tokens. Anyone who gets a token with its audience can
 * exchange it for a credential, so such tokens only go to its own token services.
 *
 * <p>The hosts are listed individually, because a vendor's domain as a whole isn't safe: anyone
 * with an AWS account can own {@code x.execute-api.eu-central-1.amazonaws.com} with a valid
 * certificate.
 */
enum Vendor {
    /** Regional, global, FIPS and VPC endpoints of AWS STS, in all public partitions. */
    AWS(
            "sts\\.amazonaws\\.com"
                    + "|sts(-fips)?\\.[a-z]{2,4}(-[a-z]+)+-\\d{1,2}\\.amazonaws\\.(com|com\\.cn|eu)"
                    + "|vpce-[a-z0-9-]+\\.sts\\.[a-z]{2,4}(-[a-z]+)+-\\d{1,2}"
                    + "\\.vpce\\.amazonaws\\.(com|com\\.cn|eu)",
            "([^/]*\\.)?(amazonaws\\.(com|com\\.cn|eu)|aws\\.amazon\\.com)"),
    /** Google's token and service account credentials services. */
    GOOGLE("(sts|iamcredentials)\\.googleapis\\.com", "([^/]*\\.)?(googleapis|google)\\.com"),
    /** Entra in the world. */
    MICROSOFT(
            "login\\.microsoftonline\\.com",
            "azureadtokenexchange(?!(usgov|china)$).*|([^/]*\\.)?microsoftonline\\.com"),
    /** Entra for the government of the United States: another cloud with accounts of its own. */
    MICROSOFT_US(
            "login\\.microsoftonline\\.us",
            "azureadtokenexchangeusgov|([^/]*\\.)?microsoftonline\\.us"),
    /** Entra in China, which another company runs. */
    MICROSOFT_CHINA(
            "login\\.partner\\.microsoftonline\\.cn|login\\.chinacloudapi\\.cn",
            "azureadtokenexchangechina|([^/]*\\.)?(microsoftonline|chinacloudapi)\\.cn");

    private static final Pattern SCHEME = Pattern.compile("^([a-z][a-z0-9+.-]*:)?//");
    private static final Pattern AFTER_HOST =
            Pattern.compile("\\.?(:\\d*+)?([/?#].*)?$", Pattern.DOTALL);

    private final Pattern hosts;
    private final Pattern audiences;

    Vendor(String hosts, String audiences) {
        this.hosts = Pattern.compile("^(?:%s)$".formatted(hosts));
        this.audiences = Pattern.compile("^(?:%s)$".formatted(audiences));
    }

    /** Whether the endpoint certainly belongs to this vendor, which requires TLS. */
    boolean isAt(Endpoint endpoint) {
        return endpoint.isEncrypted() && hosts.matcher(endpoint.host()).matches();
    }

    /**
     * Whether an audience means this vendor, written as a host, as a URL or as {@code //host/…}.
     */
    boolean isMeantBy(String audience) {
        String withoutScheme = SCHEME.matcher(audience.toLowerCase(Locale.ROOT)).replaceFirst("");
        String host = AFTER_HOST.matcher(withoutScheme).replaceFirst("");
        return audiences.matcher(host).matches();
    }
}
