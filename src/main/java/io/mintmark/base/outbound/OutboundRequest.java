package io.mintmark.base.outbound;

import com.google.errorprone.annotations.CompileTimeConstant;

import io.mintmark.base.tenant.MintId;

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
        Map<String, Header> headers,
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

    /**
     * The value of a header. Only the methods of this class make one, so that no secret becomes one
     * without being hidden.
     */
    public static final class Header {
        private final String text;

        private Header(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }

        @Override
        public String toString() {
            return "a header";
        }
    }

    public OutboundRequest {
        headers = Map.copyOf(headers);
        secrets = List.copyOf(secrets);
    }

    /** A POST with an answer of the usual length. */
    public OutboundRequest(
            String address, String mediaType, Secret body, Collection<Secret> secrets) {
        this(
                Method.POST,
                address,
                mediaType,
                body,
                Map.of(),
                secrets,
                ServiceAnswer.USUAL_LENGTH,
                Optional.empty(),
                Optional.empty());
    }

    public static OutboundRequest deletion(String address) {
        return json(Method.DELETE, address, "");
    }

    /** A PUT of a JSON document. */
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
                address, "application/json", new Secret(document), List.of(held));
    }

    /** Limits the answer to so many bytes. */
    public OutboundRequest answeredWithin(int bytes) {
        return copy(headers, secrets, bytes, caCertificate, certificate);
    }

    /** Trusts a host whose certificate comes from one of these authorities. */
    public OutboundRequest trusting(String pem) {
        return copy(headers, secrets, longestAnswer, Optional.of(pem), certificate);
    }

    /** Presents a certificate to a host that asks for it. */
    public OutboundRequest presenting(ClientCertificate own) {
        return copy(headers, secrets, longestAnswer, caCertificate, Optional.of(own));
    }

    /** Adds a bearer token (RFC 6750 section 2.1). */
    public OutboundRequest authorized(Secret bearer) {
        return hiding("Authorization", "Bearer " + bearer.reveal(), bearer);
    }

    /** Authenticates as this client ({@code client_secret_basic}). */
    public OutboundRequest authorized(ClientSecret client) {
        Secret credentials = client.credentials();
        return hiding(
                "Authorization", "Basic " + credentials.reveal(), credentials, client.secret());
    }

    /**
     * Adds a header that may hold a secret, such as an API key. It is hidden where the response
     * quotes it.
     */
    public OutboundRequest with(@CompileTimeConstant String header, Secret value) {
        return hiding(header, value.reveal(), value);
    }

    /**
     * Adds a header whose value is a constant of the program. The compiler rejects any other text,
     * because nothing says whether that is a secret.
     */
    public OutboundRequest with(
            @CompileTimeConstant String header, @CompileTimeConstant String value) {
        return hiding(header, value);
    }

    /** Adds the id of the mint, for the service's own log. */
    public OutboundRequest with(@CompileTimeConstant String header, MintId mint) {
        return hiding(header, mint.toString());
    }

    private OutboundRequest hiding(String header, String value, Secret... held) {
        Map<String, Header> all = new HashMap<>(headers);
        all.put(header, new Header(value));
        List<Secret> hidden = new ArrayList<>(secrets);
        hidden.addAll(List.of(held));
        return copy(all, hidden, longestAnswer, caCertificate, certificate);
    }

    private OutboundRequest copy(
            Map<String, Header> headers,
            Collection<Secret> secrets,
            int longest,
            Optional<String> authorities,
            Optional<ClientCertificate> own) {
        return new OutboundRequest(
                method, address, mediaType, body, headers, secrets, longest, authorities, own);
    }

    /** Shows neither body nor headers, because they may contain a token. */
    @Override
    public String toString() {
        return "%s[%s, %s]".formatted(method, address, body);
    }
}
