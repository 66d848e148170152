package io.mintmark.token;

/**
 * The broker's own issuer and those that it keeps for its tenants. Their tokens are for providers;
 * if the broker accepted them, a credential would buy the next one for ever.
 */
public record OwnIssuer(String url) {

    /**
     * Those of a broker.
     *
     * @param url {@code BROKER_ISSUER}
     */
    public OwnIssuer {
        url = withoutSlash(url);
    }

    /** Whether an issuer is one of the broker's own. */
    public boolean is(String issuer) {
        String other = withoutSlash(issuer);
        return other.equals(url) || other.startsWith(url + "/tenants/");
    }

    private static String withoutSlash(String url) {
        return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }
}
