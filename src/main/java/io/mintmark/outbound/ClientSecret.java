package io.mintmark.outbound;

import com.nimbusds.oauth2.sdk.ErrorObject;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.id.ClientID;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/** With what a client proves itself to an authorization server (RFC 6749 section 2.3.1). */
public record ClientSecret(String id, Secret secret) {

    /** The header {@code Authorization} of {@code client_secret_basic}. */
    public Secret header() {
        return new Secret(
                new ClientSecretBasic(
                                new ClientID(id),
                                new com.nimbusds.oauth2.sdk.auth.Secret(secret.reveal()))
                        .toHTTPAuthorizationHeader());
    }

    /**
     * What the server said, without the secret in any of the forms in which it was shown it: a
     * server may quote what it was sent.
     */
    public String hiddenIn(String words) {
        String encoded = header().reveal().substring("Basic ".length());
        return Stream.of(
                        encoded,
                        encoded.replaceFirst("=+$", ""),
                        URLEncoder.encode(secret.reveal(), StandardCharsets.UTF_8),
                        secret.reveal())
                // what OAuth doesn't allow in a description has been taken out of it before
                .flatMap(form -> Stream.of(form, ErrorObject.removeIllegalChars(form)))
                .filter(form -> !form.isEmpty())
                .reduce(words, (said, form) -> said.replace(form, "[secret]"));
    }
}
