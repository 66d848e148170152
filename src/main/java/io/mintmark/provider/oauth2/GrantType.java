package io.mintmark.provider.oauth2;

/** The way in which a request presents the broker's token. */
enum GrantType {
    /** The token is the subject of a token exchange (RFC 8693 section 2.1). */
    TOKEN_EXCHANGE("token-exchange", "subject_token"),
    /** The token is an authorization grant (RFC 7523 section 2.1). */
    JWT_BEARER("jwt-bearer", "assertion");

    private final String word;
    private final String parameter;

    GrantType(String word, String parameter) {
        this.word = word;
        this.parameter = parameter;
    }

    /** The grant of a provider setting. */
    static GrantType of(String word) {
        return word.equals(JWT_BEARER.word) ? JWT_BEARER : TOKEN_EXCHANGE;
    }

    /** The value of {@code grant_type}. */
    String type() {
        return "urn:ietf:params:oauth:grant-type:" + word;
    }

    /** The parameter that the standard names for the token. */
    String parameter() {
        return parameter;
    }

    @Override
    public String toString() {
        return word;
    }
}
