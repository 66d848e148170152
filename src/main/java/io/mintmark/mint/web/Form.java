package io.mintmark.mint.web;

import com.nimbusds.oauth2.sdk.util.URLUtils;

import io.mintmark.outbound.Post;
import io.mintmark.outbound.Secret;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The parameters of a request to a token endpoint, in the order in which they were added. */
public final class Form {
    private final Map<String, List<String>> parameters = new LinkedHashMap<>();

    /** Adds a parameter. */
    public Form with(String name, String value) {
        parameters.put(name, List.of(value));
        return this;
    }

    /** Adds a parameter that must not be seen. */
    public Form with(String name, Secret value) {
        return with(name, value.reveal());
    }

    /** Adds a parameter if there is a value: RFC 6749 takes an empty one for none. */
    public Form with(String name, Optional<String> value) {
        value.ifPresent(given -> with(name, given));
        return this;
    }

    /** The request that sends them. */
    public Post to(String address) {
        return Post.form(address, new Secret(URLUtils.serializeParameters(parameters)));
    }
}
