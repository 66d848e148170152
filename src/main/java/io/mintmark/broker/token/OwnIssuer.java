package io.mintmark.broker.token;

import java.util.Optional;

/**
 * The broker's own issuer and those of its tenants. Their tokens are for providers; if the broker
 * accepted them, a credential could be exchanged for the next one forever.
 */
public record OwnIssuer(Optional<String> url) {

    /** The issuer of a broker that signs nothing. */
    public static final OwnIssuer NONE = new OwnIssuer(Optional.empty());

    public OwnIssuer {
        url = url.map(OwnIssuer::withoutSlash);
    }

    /**
     * The issuer of a broker.
     *
     * @param url {@code BROKER_ISSUER}
     */
    public OwnIssuer(String url) {
        this(Optional.of(url));
    }

    /** Whether an issuer is one of the broker's own. */
    public boolean is(String issuer) {
        String other = withoutSlash(issuer);
        return url.filter(own -> other.equals(own) || other.startsWith(own + "/tenants/"))
                .isPresent();
    }

    private static String withoutSlash(String url) {
        return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }
}
