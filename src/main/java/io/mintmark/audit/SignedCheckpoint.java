package io.mintmark.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.util.Base64URL;

import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A checkpoint as it is stored and printed.
 *
 * @param sealedAt as the database has it; what counts is inside the JWS
 * @param jws compact
 * @param announcedBy the same payload signed by the key before, where a new key signs first
 */
public record SignedCheckpoint(
        long number, Instant sealedAt, String jws, Optional<String> announcedBy) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What the next checkpoint names it by: SHA-256 of the JWS, in hexadecimal digits. */
    public String hash() {
        byte[] text = jws.getBytes(StandardCharsets.US_ASCII);
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(text));
    }

    /** The key that its signature says it is of; empty if it says nothing that can be read. */
    String signer() {
        return signer(jws);
    }

    /** That of a JWS, or of what stands before its first dot. */
    public static String signer(String jws) {
        try {
            String header = jws.split("\\.", 2)[0];
            return String.valueOf(JWSHeader.parse(new Base64URL(header)).getKeyID());
        } catch (ParseException e) {
            return "";
        }
    }

    /** One line of JSON, to be kept elsewhere. */
    public String line() {
        ObjectNode line =
                JSON.createObjectNode()
                        .put("checkpoint", number)
                        .put("sealed_at", sealedAt.toString())
                        .put("jws", jws);
        announcedBy.ifPresent(text -> line.put("announced_by", text));
        return line.toString();
    }

    /** Finds a checkpoint in a line of the service's output; other lines have none. */
    public static Optional<SignedCheckpoint> in(String line) {
        if (!line.contains("\"checkpoint\"")) {
            return Optional.empty();
        }
        try {
            JsonNode json = JSON.readTree(line);
            return json.path("checkpoint").isIntegralNumber() && json.path("jws").isTextual()
                    ? Optional.of(of(json))
                    : Optional.empty();
        } catch (JsonProcessingException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static SignedCheckpoint of(JsonNode json) {
        return new SignedCheckpoint(
                json.path("checkpoint").asLong(),
                Instant.parse(json.path("sealed_at").asText()),
                json.path("jws").asText(),
                Optional.ofNullable(json.path("announced_by").textValue()));
    }
}
