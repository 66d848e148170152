package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** An error answer of the {@link GoogleStandIn}. */
final class GoogleRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String body;

    private GoogleRefusal(int status, String message, ObjectNode body) {
        super(message);
        this.status = status;
        this.body = body.toString();
    }

    /** As the token service writes it (RFC 6749 section 5.2). */
    static GoogleRefusal oauth(String error, String description) {
        return new GoogleRefusal(
                400,
                description,
                JsonNodeFactory.instance
                        .objectNode()
                        .put("error", error)
                        .put("error_description", description));
    }

    /** A {@code google.rpc.Status}. */
    static GoogleRefusal rpc(int code, String status, String message) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.putObject("error").put("code", code).put("message", message).put("status", status);
        return new GoogleRefusal(code, message, body);
    }

    static GoogleRefusal invalid(String message) {
        return rpc(400, "INVALID_ARGUMENT", message);
    }

    int status() {
        return status;
    }

    String body() {
        return body;
    }
}
