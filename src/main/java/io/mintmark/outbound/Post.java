package io.mintmark.outbound;

import java.util.HashMap;
import java.util.Map;

/**
 * A request that is sent to a service.
 *
 * @param address an https URL; http only if the host is a loopback one or listed in {@code
 *     OUTBOUND_ALLOWED_HOSTS}
 * @param mediaType of the body
 * @param headers beside those that every request has
 */
public record Post(String address, String mediaType, Secret body, Map<String, Secret> headers) {
    public Post {
        headers = Map.copyOf(headers);
    }

    /** Parameters as HTML forms and OAuth (RFC 6749 appendix B) write them. */
    public static Post form(String address, Secret parameters) {
        return new Post(address, "application/x-www-form-urlencoded", parameters, Map.of());
    }

    /** A JSON document. */
    public static Post json(String address, Secret document) {
        return new Post(address, "application/json", document, Map.of());
    }

    /** The same with an {@code Authorization} header. */
    public Post authorized(Secret authorization) {
        return with("Authorization", authorization);
    }

    /** The same with a header that it had not, or with another value for it. */
    public Post with(String header, Secret value) {
        Map<String, Secret> all = new HashMap<>(headers);
        all.put(header, value);
        return new Post(address, mediaType, body, all);
    }
}
