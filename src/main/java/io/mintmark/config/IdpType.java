package io.mintmark.config;

/** Where the broker's own identity comes from. */
public enum IdpType {
    /** The broker is an issuer itself. */
    BUILT_IN,
    /** A token from an identity provider, for a client id and secret. */
    CLIENT_CREDENTIALS,
    /** A token that the platform puts into a file. */
    TOKEN_FILE
}
