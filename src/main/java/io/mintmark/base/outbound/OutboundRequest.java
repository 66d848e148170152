package io.mintmark.base.outbound;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request that is sent to a service: POST or PUT, or DELETE without a body.
 *
 * @param method of HTTP
 * @param address an https URL; http only if the host is a loopback one or listed in {@code
 *     OUTBOUND_ALLOWED_HOSTS}
 * @param mediaType of the body
 * @param headers in addition to those of every request
 * @param secrets parts of body and headers that must be hidden if the response quotes them
 * @param longestAnswer in bytes
 * @param caCertificate PEM of the only authorities that the host's certificate may come from;
 *     without it the Java platform's authorities are trusted
 * @param certificate what the broker presents to a host that asks for a certificate
 */
public record OutboundRequest(
        Method method,
        String address,
        String mediaType,
        Secret body,
        Map<String, String> headers,
        Collection<Secret> secrets,
        int longestAnswer,
        Optional<String> caCertificate,
        Optional<ClientCertificate> certificate) {

    /** The methods of HTTP that are used. */
    public enum Method {
        POST,
        PUT,
        DELETE
    }

    public OutboundRequest {
        headers = Map.copyOf(headers);
        secrets = List.copyOf(secrets);
    }

    /** A POST with an answer of the usual length. */
    public OutboundRequest(
            String address,
            String mediaType,
            Secret body,
            Map<String, String> headers,
            Collection<Secret> secrets) {
        this(
                Method.POST,
                address,
                mediaType,
                body,
                headers,
                secrets,
                ServiceAnswer.USUAL_LENGTH,
                Optional.empty(),
                Optional.empty());
    }

    public static OutboundRequest deletion(String address) {
        return json(Method.DELETE, address, "");
    }

    /** A JSON document that becomes what is at the address. */
    public static OutboundRequest replacement(String address, String document) {
        return json(Method.PUT, address, document);
    }

    private static OutboundRequest json(Method method, String address, String document) {
        return new OutboundRequest(
                method,
                address,
                "application/json",
                new Secret(document),
                Map.of(),
                List.of(),
                ServiceAnswer.USUAL_LENGTH,
                Optional.empty(),
                Optional.empty());
    }

    /** A JSON document that holds this secret. */
    public static OutboundRequest json(String address, String document, Secret held) {
        return new OutboundRequest(
                address, "application/json", new Secret(document), Map.of(), List.of(held));
    }

    /** The same with an answer of at most so many bytes. */
    public OutboundRequest answeredWithin(int bytes) {
        return copy(headers, secrets, bytes, caCertificate, certificate);
    }

    /** The same to a host whose certificate comes from one of these authorities. */
    public OutboundRequest trusting(String pem) {
        return copy(headers, secrets, longestAnswer, Optional.of(pem), certificate);
    }

    /** The same to a host that asks for this certificate. */
    public OutboundRequest presenting(ClientCertificate own) {
        return copy(headers, secrets, longestAnswer, caCertificate, Optional.of(own));
    }

    /** The same with a bearer token (RFC 6750 section 2.1). */
    public OutboundRequest authorized(Secret bearer) {
        return with("Authorization", "Bearer " + bearer.reveal()).hiding(bearer);
    }

    /** The same as this client ({@code client_secret_basic}). */
    public OutboundRequest authorized(ClientSecret client) {
        Secret credentials = client.credentials();
        return with("Authorization", "Basic " + credentials.reveal())
                .hiding(credentials)
                .hiding(client.secret());
    }

    /** The same with a header that it had not, or with another value for it. */
    public OutboundRequest with(String header, String value) {
        Map<String, String> all = new HashMap<>(headers);
        all.put(header, value);
        return copy(all, secrets, longestAnswer, caCertificate, certificate);
    }

    private OutboundRequest hiding(Secret secret) {
        List<Secret> all = new ArrayList<>(secrets);
        all.add(secret);
        return copy(headers, all, longestAnswer, caCertificate, certificate);
    }

    private OutboundRequest copy(
            Map<String, String> headers,
            Collection<Secret> secrets,
            int longest,
            Optional<String> authorities,
            Optional<ClientCertificate> own) {
        return new OutboundRequest(
                method, address, mediaType, body, headers, secrets, longest, authorities, own);
    }

    /** No header either: one of them may hold a token. */
    @Override
    public String toString() {
        return "%s[%s, %s]".formatted(method, address, body);
    }
}
