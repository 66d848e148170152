package io.mintmark.base.config;

import java.util.Map;

/**
 * The broker's authentication as a client of its identity provider (RFC 6749 section 2.3.1, OpenID
 * Connect Core section 9).
 */
public enum ClientAuth {
    /** Id and secret in the header {@code Authorization}. */
    SECRET_BASIC,
    /** Id and secret among the form's parameters. */
    SECRET_POST,
    /** An assertion signed with the broker's key. */
    PRIVATE_KEY_JWT;

    static final Format<ClientAuth> FORMAT =
            Formats.words(
                    Map.of(
                            "client_secret_basic", SECRET_BASIC,
                            "client_secret_post", SECRET_POST,
                            "private_key_jwt", PRIVATE_KEY_JWT));
}
