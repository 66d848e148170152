package io.mintmark.provider;

import io.mintmark.base.outbound.Destinations;

import java.util.Arrays;
import java.util.Optional;

/**
 * Decides which tokens may go where. A vendor's audience and claims go only to that vendor's hosts
 * or to hosts that the operator listed; any other provider gets a token that is useless elsewhere.
 */
public final class TokenDestinations {
    private final Destinations allowed;

    /**
     * @param allowed the operator's list; it isn't enough that a host resolves to a listed address,
     *     because the owner of the name can change that
     */
    public TokenDestinations(Destinations allowed) {
        this.allowed = allowed;
    }

    /** Whether tokens that AWS accepts may go there. */
    public boolean takesAwsTokens(Endpoint endpoint) {
        return takesTokensOf(Vendor.AWS, endpoint);
    }

    /**
     * The reason why tokens with an audience may not go to an endpoint, as the end of a sentence:
     * the audience is a vendor's, and the endpoint isn't.
     */
    Optional<String> objection(Endpoint endpoint, String audience) {
        return Arrays.stream(Vendor.values())
                .filter(vendor -> vendor.isMeantBy(audience))
                .filter(vendor -> !takesTokensOf(vendor, endpoint))
                .findAny()
                .map(vendor ->
                        "'%s' belongs to %s, but %s is neither a host of that vendor nor listed in OUTBOUND_ALLOWED_HOSTS"
                                .formatted(audience, vendor, endpoint.origin()));
    }

    /**
     * The audience of tokens for an endpoint, unless it is a vendor's and the endpoint isn't.
     *
     * @param setting of the access provider that names the one or the other
     * @throws UnusableSettingsException if they don't fit
     */
    public String audience(Endpoint endpoint, Settings settings, String setting, String wanted) {
        objection(endpoint, wanted)
                .ifPresent(why -> {
                    throw settings.unusable(setting, "can't be used: " + why);
                });
        return wanted;
    }

    /**
     * The audience of tokens for an endpoint that belongs to no vendor: the access provider's
     * setting, or else the endpoint's origin.
     *
     * @throws UnusableSettingsException if it is a vendor's and the endpoint isn't
     */
    public String audience(Endpoint endpoint, Settings settings, String name) {
        return settings.text(name)
                .map(wanted -> audience(endpoint, settings, name, wanted))
                .orElseGet(endpoint::origin);
    }

    /**
     * Whether requests to the endpoint, and the credential that comes back, can't be read on the
     * way, or only in a network that the operator knows.
     */
    boolean isConfidential(Endpoint endpoint) {
        return endpoint.isEncrypted()
                || Destinations.isLoopback(endpoint.host())
                || isListed(endpoint);
    }

    /**
     * Refuses an endpoint that isn't confidential.
     *
     * @param setting of the access provider that names it
     * @throws UnusableSettingsException if it isn't
     */
    public void requireConfidential(String setting, Endpoint endpoint) {
        if (!isConfidential(endpoint)) {
            throw new UnusableSettingsException(
                    "access provider setting '%s' '%s' is plain http, so others could read the broker's token: use https, or list the host in OUTBOUND_ALLOWED_HOSTS"
                            .formatted(setting, endpoint));
        }
    }

    private boolean takesTokensOf(Vendor vendor, Endpoint endpoint) {
        return vendor.isAt(endpoint) || isListed(endpoint);
    }

    /** The name localhost is always this machine (RFC 6761 section 6.3), so its address counts. */
    private boolean isListed(Endpoint endpoint) {
        return allowed.listed(endpoint.host())
                || (endpoint.host().equals("localhost") && allowed.listed("127.0.0.1"));
    }

    /** Whether an audience means a cloud that trusts the broker, however it is written. */
    public static boolean isVendors(String audience) {
        return Arrays.stream(Vendor.values()).anyMatch(vendor -> vendor.isMeantBy(audience));
    }
}
