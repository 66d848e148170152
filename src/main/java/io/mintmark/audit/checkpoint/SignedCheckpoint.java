package io.mintmark.audit.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.json.JacksonFactories;

import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A checkpoint as it is stored and printed.
 *
 * @param sealedAt as the database has it; what counts is inside the JWS
 * @param jws compact
 * @param announcedBy the same payload signed by the key before, where a new key signs first
 * @param note about the tree of checkpoints up to this one, where a key signs notes
 */
public record SignedCheckpoint(
        long number,
        Instant sealedAt,
        String jws,
        Optional<String> announcedBy,
        Optional<String> note) {
    /** A checkpoint whose note isn't needed. */
    public SignedCheckpoint(
            long number, Instant sealedAt, String jws, Optional<String> announcedBy) {
        this(number, sealedAt, jws, announcedBy, Optional.empty());
    }

    private static final ObjectMapper JSON = JacksonFactories.mapper().build();
    private static final Base64.Encoder BASE64 = Base64.getMimeEncoder(64, new byte[] {'\n'});
    static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

    /** A time in UTC with at most microseconds. */
    static final Pattern MOMENT =
            Pattern.compile(
                    "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}"
                            + "([.][0-9]{1,6})?(Z|[+]00:00)");

    /**
     * The hash by which the next checkpoint refers to it: SHA-256 of the JWS, in hexadecimal
     * digits.
     */
    public String hash() {
        byte[] text = jws.getBytes(StandardCharsets.US_ASCII);
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(text));
    }

    /** This checkpoint with a note beside it. */
    SignedCheckpoint with(String signed) {
        return new SignedCheckpoint(number, sealedAt, jws, announcedBy, Optional.of(signed));
    }

    /**
     * The key of the note, as the payload and the note name it, signed or not; empty if there is no
     * such key.
     */
    public Optional<NoteKey> noteKey() {
        try {
            return unverified()
                    .flatMap(Checkpoint::noteKey)
                    .flatMap(raw ->
                            treeHead()
                                    .map(head ->
                                            new NoteKey(head.origin(), NoteKey.Type.NOTE, raw)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The head in the note, signed or not; empty if the note is unreadable. */
    public Optional<TreeHead> treeHead() {
        try {
            return note.map(text -> TreeHead.parse(SignedNote.parse(text).text()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The id of the key that the signature names, verified or not; empty text if it is unreadable.
     */
    public String signer() {
        return signer(jws);
    }

    /** The key id of a JWS, or of its header alone. */
    public static String signer(String jws) {
        try {
            String header = jws.split("\\.", 2)[0];
            return String.valueOf(JWSHeader.parse(new Base64URL(header)).getKeyID());
        } catch (ParseException e) {
            return "";
        }
    }

    /**
     * The public key that it contains, in PEM, trusted or not; empty without a key, or if the key's
     * thumbprint isn't the signer's id.
     */
    public Optional<String> shownKey() {
        try {
            return JWSObject.parse(jws).getHeader().getJWK() instanceof ECKey key
                            && SealingKeys.thumbprint(key).equals(signer())
                    ? Optional.of(
                            "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                                    .formatted(
                                            BASE64.encodeToString(key.toPublicKey().getEncoded())))
                    : Optional.empty();
        } catch (ParseException | JOSEException e) {
            return Optional.empty();
        }
    }

    /** The content, whichever key signed it; empty if it can't be parsed. */
    public Optional<Checkpoint> unverified() {
        try {
            return Optional.of(CheckpointJson.read(JWSObject.parse(jws).getPayload().toString()));
        } catch (ParseException | IllegalArgumentException e) {
            return Optional.empty();
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
        note.ifPresent(text -> line.put("note", text));
        return line.toString();
    }

    /** Finds a checkpoint in a line of the service's output; other lines have none. */
    public static Optional<SignedCheckpoint> in(String line) {
        if (!line.contains("\"checkpoint\"")) {
            return Optional.empty();
        }
        try {
            JsonNode json = JSON.readTree(line);
            return NUMBER.matcher(json.path("checkpoint").toString()).matches()
                            && MOMENT.matcher(json.path("sealed_at").asText()).matches()
                            && json.path("jws").isTextual()
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
                Optional.ofNullable(json.path("announced_by").textValue()),
                Optional.ofNullable(json.path("note").textValue()));
    }
}
