package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;

/** The claims that conditions are compared with. */
public sealed interface SeenClaims {

    /** All claims of a token, or of its claim {@code act}. */
    record OfToken(JsonNode claims) implements SeenClaims {}

    /**
     * The claims that a decision evaluated, as {@code audit.event} records them: each under the
     * name by which a condition asked for it, pointers included.
     */
    record OnRecord(JsonNode claims) implements SeenClaims {}
}
