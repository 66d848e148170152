package io.mintmark.audit.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.json.JacksonFactories;

/**
 * The statement of a cell about a tenant that moved away: how far the tenant's history goes there,
 * and the hash of the tenant's rows. The cell signs it with its audit key; the cell that imports
 * the tenant keeps it in the tenant's history.
 *
 * @param from the URL of the cell that states it
 * @param to the URL of the cell that may take the tenant in
 * @param revision the last of the tenant's history at that cell, which says that it moved
 * @param hash that change's, in hexadecimal digits
 * @param content SHA-256 of what the tenant had, in hexadecimal digits
 */
public record MoveStatement(
        String tenant, String from, String to, long revision, String hash, String content) {
    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    /** The member that distinguishes a statement from a checkpoint, which has no such member. */
    private static final String KIND = "tenant moved";

    /** The statement as a JWS. */
    public String sign(SealingKeys keys) {
        return keys.statement(
                JSON.createObjectNode()
                        .put("statement", KIND)
                        .put("tenant", tenant)
                        .put("from", from)
                        .put("to", to)
                        .put("revision", revision)
                        .put("hash", hash)
                        .put("content", content)
                        .toString());
    }

    /**
     * Reads a statement of a trusted key.
     *
     * @throws IllegalArgumentException whose message is the end of a sentence about the statement
     */
    public static MoveStatement read(String jws, TrustedKeys keys) {
        JsonNode payload = json(keys.statement(jws));
        if (!payload.path("statement").asText().equals(KIND)) {
            throw new IllegalArgumentException("doesn't describe the move of a tenant");
        }
        return new MoveStatement(
                payload.path("tenant").asText(),
                payload.path("from").asText(),
                payload.path("to").asText(),
                payload.path("revision").asLong(),
                payload.path("hash").asText(),
                payload.path("content").asText());
    }

    private static JsonNode json(String payload) {
        try {
            return JSON.readTree(payload);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("has a payload that isn't JSON", e);
        }
    }
}
