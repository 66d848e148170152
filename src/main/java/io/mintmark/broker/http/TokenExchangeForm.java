package io.mintmark.broker.http;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.token.PresentedToken;

import java.util.Optional;
import java.util.Set;

/** A request for token exchange (RFC 8693 section 2.1), checked as far as it can be by itself. */
sealed interface TokenExchangeForm {
    String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";

    /**
     * The types by which clients call the identity token of the interface. Some libraries have only
     * access tokens to exchange, which will do where they are JWTs of a known issuer.
     */
    Set<String> SUBJECT_TOKEN_TYPES =
            Set.of(
                    "urn:ietf:params:oauth:token-type:jwt",
                    "urn:ietf:params:oauth:token-type:id_token",
                    "urn:ietf:params:oauth:token-type:access_token");

    /** One that can be gone on with. */
    record Valid(PresentedToken token, KeyName key) implements TokenExchangeForm {}

    /** One that can't. */
    record Invalid(OAuthError error) implements TokenExchangeForm {}

    static TokenExchangeForm of(FormParameters form) {
        return error(form)
                .<TokenExchangeForm>map(Invalid::new)
                .orElseGet(() ->
                        new Valid(
                                new PresentedToken(
                                        new Secret(form.value("subject_token").orElseThrow())),
                                new KeyName(keyName(form.value("audience").orElseThrow()))));
    }

    private static Optional<OAuthError> error(FormParameters form) {
        return clientError(form)
                .or(() -> grantTypeError(form))
                .or(() -> subjectError(form))
                .or(() -> unsupported(form))
                .or(() -> audienceError(form));
    }

    private static Optional<OAuthError> clientError(FormParameters form) {
        return form.has("client_secret")
                        || form.has("client_assertion")
                        || form.has("client_assertion_type")
                ? Optional.of(OAuthError.invalidClient())
                : Optional.empty();
    }

    private static Optional<OAuthError> grantTypeError(FormParameters form) {
        return form.value("grant_type")
                .map(given ->
                        given.equals(GRANT_TYPE)
                                ? Optional.<OAuthError>empty()
                                : Optional.of(
                                        OAuthError.of(
                                                "unsupported_grant_type",
                                                "The grant_type must be %s."
                                                        .formatted(GRANT_TYPE))))
                .orElseGet(() -> missing("grant_type", GRANT_TYPE));
    }

    private static Optional<OAuthError> subjectError(FormParameters form) {
        if (!form.has("subject_token")) {
            return missing("subject_token", "an OIDC identity token");
        }
        String type = form.value("subject_token_type").orElse("");
        return SUBJECT_TOKEN_TYPES.contains(type)
                ? Optional.empty()
                : invalid(
                        "The subject_token_type must be urn:ietf:params:oauth:token-type:jwt,"
                                + " urn:ietf:params:oauth:token-type:id_token or"
                                + " urn:ietf:params:oauth:token-type:access_token.");
    }

    private static Optional<OAuthError> unsupported(FormParameters form) {
        if (form.has("resource")) {
            return invalid("The audience names the key; send no resource.");
        }
        return form.has("actor_token") || form.has("actor_token_type")
                ? invalid("Delegation is not supported; send no actor_token.")
                : Optional.empty();
    }

    private static Optional<OAuthError> audienceError(FormParameters form) {
        return form.value("audience")
                .map(name ->
                        KeyName.isValid(keyName(name))
                                ? Optional.<OAuthError>empty()
                                : Optional.of(
                                        OAuthError.of(
                                                "invalid_target",
                                                "The audience, or its part after the last '/', must"
                                                    + " be the name of a key: a letter, then up to"
                                                    + " 63 letters, digits, '_', '.' or '-'.")))
                .orElseGet(() -> missing("audience", "the name of a key"));
    }

    /** Libraries for a cloud want names as long as the cloud's, such as {@code //host/path/KEY}. */
    private static String keyName(String audience) {
        return audience.substring(audience.lastIndexOf('/') + 1);
    }

    private static Optional<OAuthError> missing(String parameter, String what) {
        return invalid("%s is missing; send %s.".formatted(parameter, what));
    }

    private static Optional<OAuthError> invalid(String description) {
        return Optional.of(OAuthError.of("invalid_request", description));
    }
}
