package io.mintmark.broker.http;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.grant.ResourceUri;
import io.mintmark.broker.token.PresentedToken;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A request that exchanges an identity token, by token exchange (RFC 8693 section 2.1), as an
 * assertion (RFC 7523 section 2.1), or as the assertion that authenticates a client (section 2.2),
 * checked as far as it can be by itself. Client authentication beside the token that decides has no
 * effect.
 */
sealed interface TokenExchangeForm {

    /** The parameter {@code grant_type}. */
    enum Grant {
        TOKEN_EXCHANGE("urn:ietf:params:oauth:grant-type:token-exchange", "subject_token"),
        JWT_BEARER("urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion"),
        CLIENT_CREDENTIALS("client_credentials", "client_assertion");

        private final String type;
        private final String token;

        /**
         * @param token the parameter with the identity token
         */
        Grant(String type, String token) {
            this.type = type;
            this.token = token;
        }

        static List<String> types() {
            return Stream.of(values()).map(grant -> grant.type).toList();
        }

        static Optional<Grant> of(FormParameters form) {
            return form.value("grant_type")
                    .flatMap(given ->
                            Stream.of(values())
                                    .filter(grant -> grant.type.equals(given))
                                    .findFirst());
        }
    }

    String JWT = "urn:ietf:params:oauth:token-type:jwt";

    /** RFC 7523 section 2.2. */
    String CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

    String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

    /**
     * The types by which clients call the identity token of the interface. Some libraries have only
     * access tokens to exchange, which will do where they are JWTs of a known issuer.
     */
    Set<String> SUBJECT_TOKEN_TYPES =
            Set.of(JWT, "urn:ietf:params:oauth:token-type:id_token", ACCESS_TOKEN);

    /** The maximum length of a client id in the log, in characters. */
    int LONGEST_CLIENT_ID = 255;

    /** Parameters that RFC 8693 section 2.1 and RFC 8707 section 2 allow several times. */
    Set<String> REPEATABLE = Set.of("audience", "resource");

    /** The end of a scope by which clients of Azure request all that a resource permits. */
    String DEFAULT_SCOPE = "/.default";

    /**
     * A valid request.
     *
     * @param wantsJwt whether the client requested a JWT by {@code requested_token_type}
     * @param wantsScope whether it requested a {@code scope}, so that it must learn the granted one
     * @param clientId the start of its {@code client_id}, which nobody verified, for the log
     */
    record Valid(
            Grant grant,
            PresentedToken token,
            TargetKeys target,
            boolean wantsJwt,
            boolean wantsScope,
            Optional<String> clientId)
            implements TokenExchangeForm {}

    /** An invalid request, with the error to answer. */
    record Invalid(OAuthError error) implements TokenExchangeForm {}

    static TokenExchangeForm of(FormParameters form) {
        return error(form).<TokenExchangeForm>map(Invalid::new).orElseGet(() -> valid(form));
    }

    private static Valid valid(FormParameters form) {
        Grant grant = Grant.of(form).orElseThrow();
        return new Valid(
                grant,
                new PresentedToken(
                        new Secret(form.value(grant.token).orElseThrow()),
                        form.value("actor_token").map(Secret::new)),
                new TargetKeys(
                        named(form, grant).map(name -> new KeyName(keyName(name))),
                        resource(form, grant)),
                form.value("requested_token_type").orElse(ACCESS_TOKEN).equals(JWT),
                form.has("scope"),
                form.value("client_id")
                        .map(id -> id.substring(0, Math.min(id.length(), LONGEST_CLIENT_ID))));
    }

    /** The key that a request names. */
    private static Optional<String> named(FormParameters form, Grant grant) {
        return form.value("audience")
                .or(() ->
                        resource(form, grant).isPresent()
                                ? Optional.empty()
                                : scope(form, grant).map(TokenExchangeForm::withoutDefault));
    }

    /** The resource that a request names, by itself or as the scope {@code RESOURCE/.default}. */
    private static Optional<ResourceUri> resource(FormParameters form, Grant grant) {
        return form.value("resource")
                .or(() ->
                        scope(form, grant)
                                .filter(scope -> scope.endsWith(DEFAULT_SCOPE))
                                .map(TokenExchangeForm::withoutDefault))
                .flatMap(ResourceUri::of);
    }

    /** The scope, if it decides: libraries for client credentials have only this for a key. */
    private static Optional<String> scope(FormParameters form, Grant grant) {
        return grant == Grant.CLIENT_CREDENTIALS && !form.has("audience") && !form.has("resource")
                ? form.value("scope")
                : Optional.empty();
    }

    private static String withoutDefault(String scope) {
        return scope.endsWith(DEFAULT_SCOPE)
                ? scope.substring(0, scope.length() - DEFAULT_SCOPE.length())
                : scope;
    }

    private static Optional<OAuthError> error(FormParameters form) {
        return grantTypeError(form)
                .or(() -> tokenError(form, Grant.of(form).orElseThrow()))
                .or(() -> actorError(form))
                .or(() -> wishError(form))
                .or(() -> resourceError(form))
                .or(() -> audienceError(form));
    }

    private static Optional<OAuthError> grantTypeError(FormParameters form) {
        String types = String.join(" or ", Grant.types());
        if (!form.has("grant_type")) {
            return missing("grant_type", types);
        }
        return Grant.of(form).isPresent()
                ? Optional.empty()
                : Optional.of(
                        OAuthError.of(
                                "unsupported_grant_type",
                                "The grant_type must be %s.".formatted(types)));
    }

    private static Optional<OAuthError> tokenError(FormParameters form, Grant grant) {
        if (!form.has(grant.token)) {
            return missing(grant.token, "an OIDC identity token");
        }
        return switch (grant) {
            case TOKEN_EXCHANGE -> subjectTypeError(form);
            case JWT_BEARER -> Optional.empty();
            case CLIENT_CREDENTIALS ->
                    form.value("client_assertion_type").equals(Optional.of(CLIENT_ASSERTION))
                            ? Optional.empty()
                            : missing("client_assertion_type", CLIENT_ASSERTION);
        };
    }

    private static Optional<OAuthError> subjectTypeError(FormParameters form) {
        String type = form.value("subject_token_type").orElse("");
        return SUBJECT_TOKEN_TYPES.contains(type)
                ? Optional.empty()
                : invalid(
                        "The subject_token_type must be urn:ietf:params:oauth:token-type:jwt,"
                                + " urn:ietf:params:oauth:token-type:id_token or"
                                + " urn:ietf:params:oauth:token-type:access_token.");
    }

    /** RFC 8693 section 2.1: the type goes with the token. */
    private static Optional<OAuthError> actorError(FormParameters form) {
        if (!form.has("actor_token") && !form.has("actor_token_type")) {
            return Optional.empty();
        } else if (!form.has("actor_token")) {
            return missing("actor_token", "it with its actor_token_type, or neither");
        }
        String type = form.value("actor_token_type").orElse("");
        return SUBJECT_TOKEN_TYPES.contains(type)
                ? Optional.empty()
                : invalid(
                        "The actor_token_type must be one of the types that subject_token_type"
                                + " allows.");
    }

    /** Rejects parameters that the client would consider applied if the broker ignored them. */
    private static Optional<OAuthError> wishError(FormParameters form) {
        if (form.has("authorization_details")) {
            return invalid(
                    "authorization_details (RFC 9396) is not supported: the key decides what its"
                            + " token permits. Remove the parameter.");
        }
        String type = form.value("requested_token_type").orElse(ACCESS_TOKEN);
        return type.equals(ACCESS_TOKEN) || type.equals(JWT)
                ? Optional.empty()
                : invalid(
                        "The requested_token_type must be %s, or %s for keys of type jwt."
                                .formatted(ACCESS_TOKEN, JWT));
    }

    /** RFC 8707 section 2. */
    private static Optional<OAuthError> resourceError(FormParameters form) {
        return form.value("resource")
                .filter(given -> ResourceUri.of(given).isEmpty())
                .map(_ ->
                        OAuthError.of(
                                "invalid_target",
                                "The resource must be an absolute URI without a fragment."));
    }

    private static Optional<OAuthError> audienceError(FormParameters form) {
        Grant grant = Grant.of(form).orElseThrow();
        return named(form, grant)
                .map(name ->
                        KeyName.isValid(keyName(name))
                                ? Optional.<OAuthError>empty()
                                : Optional.of(
                                        OAuthError.of(
                                                "invalid_target",
                                                "The %s, or its part after the last '/', must be the name of a key: a letter, then up to 63 letters, digits, '_', '.' or '-'."
                                                        .formatted(
                                                                form.has("audience")
                                                                        ? "audience"
                                                                        : "scope"))))
                .orElseGet(() ->
                        resource(form, grant).isPresent()
                                ? Optional.empty()
                                : missing("audience", "the name of a key, or a resource"));
    }

    /**
     * The key's name in an audience. Libraries for a cloud require names in the cloud's form, such
     * as {@code //host/path/KEY}.
     */
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
