package io.mintmark.provider.oauth2;

import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TokenReply;
import io.mintmark.provider.Settings;

import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The request of a key, without the broker's token and the client.
 *
 * @param json whether the server is sent a JSON object instead of a form
 * @param subjectParameter the parameter for the broker's token
 * @param tokenType the type of token that is asked for; empty if the server's protocol has no such
 *     parameter
 */
record TokenRequest(
        GrantType grant,
        boolean json,
        String subjectParameter,
        Optional<String> audience,
        Optional<String> resource,
        Optional<String> scope,
        Optional<String> tokenType,
        OwnParameters own) {
    static TokenRequest of(Settings provider, Settings key) {
        GrantType grant = GrantType.of(provider.oneOf("grant", "token-exchange", "jwt-bearer"));
        boolean json = provider.oneOf("body", "form", "json").equals("json");
        String parameter = provider.text("subject_parameter").orElse(grant.parameter());
        OwnParameters.requireSubject(provider, parameter, grant);
        return new TokenRequest(
                grant,
                json,
                parameter,
                key.text("audience"),
                key.text("resource"),
                key.text("scope"),
                tokenType(key, grant, json || !parameter.equals(grant.parameter())),
                OwnParameters.of(provider, key, parameter));
    }

    /**
     * RFC 8693 section 2.1: {@code audience} and {@code resource} say where the token is to be used
     * and may be combined, so one alone would limit nothing.
     */
    List<String> targets() {
        return Stream.concat(
                        Stream.of(audience, resource).flatMap(Optional::stream),
                        own.targets().stream())
                .toList();
    }

    /**
     * @param shown the broker's token
     * @param subjectType its type (RFC 8693 section 3)
     */
    FormBody showing(Secret shown, String subjectType) {
        FormBody body =
                new FormBody()
                        .with("grant_type", grant.type())
                        .with("audience", audience)
                        .with("resource", resource)
                        .with("scope", scope)
                        .with("requested_token_type", tokenType)
                        .with(subjectParameter, shown);
        if (subjectParameter.equals(GrantType.TOKEN_EXCHANGE.parameter())) {
            body.with("subject_token_type", subjectType);
        }
        own.fixed().forEach(body::with);
        own.ofKey().forEach(body::with);
        return body;
    }

    OutboundRequest to(String address, FormBody body) {
        return json ? body.toJson(address) : body.to(address);
    }

    /**
     * Without this parameter a server of the standard chooses what it gives, and some add a refresh
     * token, which would outlive the grant. Servers with a protocol of their own are sent what
     * their documentation lists, and no more.
     */
    private static Optional<String> tokenType(Settings key, GrantType grant, boolean ownProtocol) {
        Optional<String> asked = key.text("requested_token_type");
        if (grant == GrantType.JWT_BEARER && asked.isPresent()) {
            throw key.unusable(
                    "requested_token_type", "does not apply to the access provider's grant");
        }
        asked.filter(type -> !TokenReply.TYPES.contains(type))
                .ifPresent(type -> {
                    throw key.unusable(
                            "requested_token_type",
                            "is '%s'; it must be one of %s"
                                    .formatted(type, new TreeSet<>(TokenReply.TYPES)));
                });
        return grant == GrantType.JWT_BEARER || ownProtocol
                ? asked
                : Optional.of(asked.orElse(TokenReply.ACCESS_TOKEN));
    }
}
