package io.mintmark.outbound;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A request that is sent to a service.
 *
 * @param address an https URL; http only if the host is a loopback one or listed in {@code
 *     OUTBOUND_ALLOWED_HOSTS}
 * @param mediaType of the body
 * @param headers beside those that every request has
 * @param secrets what in body and headers must not be repeated, should the answer quote it
 */
public record Post(
        String address,
        String mediaType,
        Secret body,
        Map<String, String> headers,
        Collection<Secret> secrets) {
    public Post {
        headers = Map.copyOf(headers);
        secrets = List.copyOf(secrets);
    }

    /** A JSON document that holds this secret. */
    public static Post json(String address, String document, Secret held) {
        return new Post(address, "application/json", new Secret(document), Map.of(), List.of(held));
    }

    /** The same as whoever holds this token (RFC 6750 section 2.1). */
    public Post authorized(Secret bearer) {
        return with("Authorization", "Bearer " + bearer.reveal()).hiding(bearer);
    }

    /** The same as this client ({@code client_secret_basic}). */
    public Post authorized(ClientSecret client) {
        Secret credentials = client.credentials();
        return with("Authorization", "Basic " + credentials.reveal())
                .hiding(credentials)
                .hiding(client.secret());
    }

    /** The same with a header that it had not, or with another value for it. */
    public Post with(String header, String value) {
        Map<String, String> all = new HashMap<>(headers);
        all.put(header, value);
        return new Post(address, mediaType, body, all, secrets);
    }

    private Post hiding(Secret secret) {
        List<Secret> all = new ArrayList<>(secrets);
        all.add(secret);
        return new Post(address, mediaType, body, headers, all);
    }

    /** No header either: one of them may hold a token. */
    @Override
    public String toString() {
        return "Post[%s, %s]".formatted(address, body);
    }
}
