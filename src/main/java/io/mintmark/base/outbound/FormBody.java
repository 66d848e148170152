package io.mintmark.base.outbound;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The parameters of a request to a token endpoint, in the order in which they were added. They are
 * sent as HTML forms and OAuth (RFC 6749 appendix B) write them, or as a JSON object for servers
 * that accept nothing else.
 */
public final class FormBody {
    private final Map<String, String> parameters = new LinkedHashMap<>();
    private final List<Secret> secrets = new ArrayList<>();

    /** Adds a parameter. */
    public FormBody with(String name, String value) {
        parameters.put(name, value);
        return this;
    }

    /** Adds a secret parameter, which is hidden even where the response quotes it. */
    public FormBody with(String name, Secret value) {
        secrets.add(value);
        return with(name, value.reveal());
    }

    /** Adds a parameter if there is a value, because RFC 6749 treats an empty one as absent. */
    public FormBody with(String name, Optional<String> value) {
        value.ifPresent(given -> with(name, given));
        return this;
    }

    /** Adds the assertion by which a client authenticates (RFC 7523 section 2.2). */
    public FormBody withClientAssertion(Secret assertion) {
        return with(
                        "client_assertion_type",
                        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                .with("client_assertion", assertion);
    }

    /** The request that sends the parameters as a form. */
    public OutboundRequest to(String address) {
        return new OutboundRequest(address, "application/x-www-form-urlencoded", text(), secrets);
    }

    /** The request that sends the parameters as a JSON object. */
    public OutboundRequest toJson(String address) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        parameters.forEach(document::put);
        return new OutboundRequest(
                address, "application/json", new Secret(document.toString()), secrets);
    }

    /** The parameters as they are sent in a form. */
    public Secret text() {
        return new Secret(
                parameters.entrySet().stream()
                        .map(each -> encoded(each.getKey()) + "=" + encoded(each.getValue()))
                        .collect(Collectors.joining("&")));
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
