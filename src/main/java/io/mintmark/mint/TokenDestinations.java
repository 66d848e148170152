package io.mintmark.mint;

import io.mintmark.outbound.Destinations;

import java.util.Arrays;

/**
 * What a token may say, by where it goes. A token is only worth what it is for: a vendor's audience
 * and claims go to that vendor's hosts or to those that the operator listed; any other provider
 * gets a token that is good for nothing but itself.
 */
public final class TokenDestinations {
    private final Destinations allowed;

    /**
     * @param allowed what the operator lists; that a host's name merely leads to a listed address
     *     isn't enough, since whoever owns the name can change that
     */
    public TokenDestinations(Destinations allowed) {
        this.allowed = allowed;
    }

    /** Whether tokens that AWS accepts may go there. */
    public boolean takesAwsTokens(Endpoint endpoint) {
        return takesTokensOf(Vendor.AWS, endpoint);
    }

    /**
     * The audience that an admin wants tokens for a provider to have.
     *
     * @throws IllegalArgumentException if it is a vendor's and the provider isn't; the message is
     *     the end of a sentence about the audience
     */
    public String audience(Endpoint endpoint, String wanted) {
        Arrays.stream(Vendor.values())
                .filter(vendor -> vendor.isMeantBy(wanted))
                .filter(vendor -> !takesTokensOf(vendor, endpoint))
                .findAny()
                .ifPresent(vendor -> {
                    throw new IllegalArgumentException(
                            "'%s' is worth something to %s, and %s is neither a host of theirs nor listed in OUTBOUND_ALLOWED_HOSTS"
                                    .formatted(wanted, vendor, endpoint.origin()));
                });
        return wanted;
    }

    /**
     * The audience of tokens for an endpoint that is nobody's in particular: what the access
     * provider's setting says, or else the endpoint's origin.
     *
     * @throws UnusableSettingsException if it is a vendor's and the endpoint isn't
     */
    public String audience(Endpoint endpoint, Settings settings, String name) {
        try {
            return settings.text(name)
                    .map(wanted -> audience(endpoint, wanted))
                    .orElseGet(endpoint::origin);
        } catch (IllegalArgumentException e) {
            throw settings.unusable(name, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Whether what is sent there, and the credential that comes back, can't be read on the way, or
     * only where the operator knows the network.
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
                    "access provider setting '%s' '%s' is plain http, so the broker's token could be read on the way, and its host isn't listed in OUTBOUND_ALLOWED_HOSTS"
                            .formatted(setting, endpoint));
        }
    }

    private boolean takesTokensOf(Vendor vendor, Endpoint endpoint) {
        return vendor.isAt(endpoint) || isListed(endpoint);
    }

    /** Nobody else can own the name localhost (RFC 6761 section 6.3), so its address counts. */
    private boolean isListed(Endpoint endpoint) {
        return allowed.listed(endpoint.host())
                || (endpoint.host().equals("localhost") && allowed.listed("127.0.0.1"));
    }

    /** Whether an audience means a cloud that trusts the broker, however it is written. */
    public static boolean isVendors(String audience) {
        return Arrays.stream(Vendor.values()).anyMatch(vendor -> vendor.isMeantBy(audience));
    }
}
