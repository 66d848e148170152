package io.mintmark.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Chain;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.TenantName;

import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** Events as the JSON that one INSERT takes apart again. */
final class EventRows {
    /** Numbers as they are in the token: an auditor must see what was compared. */
    private final ObjectMapper json =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private final String broker;

    EventRows(String broker) {
        this.broker = StorableText.fit(broker, StorableText.NAME);
    }

    /** The rows, each linked to the one before it. */
    String json(List<Event> events, Chain.Draft draft) {
        ArrayNode rows = json.createArrayNode();
        events.forEach(event -> rows.add(linked(row(event), draft)));
        return rows.toString();
    }

    private static ObjectNode linked(ObjectNode row, Chain.Draft draft) {
        Chain.Link link = draft.add(EventFields.of(row));
        return row.put("chain", link.chain())
                .put("seq", link.seq())
                .put("prev_hash", "\\x" + link.previous())
                .put("hash", "\\x" + link.hash());
    }

    private ObjectNode row(Event event) {
        ObjectNode row = json.createObjectNode();
        row.put("mint_id", event.mintId().toString());
        row.put("step", event.kind().step());
        row.put("kind", event.kind().word());
        row.put("occurred_at", time(event.occurredAt()));
        row.put("broker", broker);
        text(row, "key", event.key().map(KeyName::value), StorableText.NAME);
        text(row, "reason", event.reason(), StorableText.NAME);
        text(row, "detail", event.detail(), StorableText.DETAIL);
        event.caller().ifPresent(caller -> add(row, caller));
        event.subject().ifPresent(subject -> add(row, subject));
        event.grant().ifPresent(grant -> add(row, grant));
        event.credential().ifPresent(credential -> add(row, credential));
        return row;
    }

    private static void add(ObjectNode row, Caller caller) {
        text(row, "request_id", Optional.of(caller.requestId()), StorableText.NAME);
        row.put("client_address", address(caller.address()));
        text(row, "user_agent", caller.userAgent(), StorableText.LINE);
    }

    /** Without the zone of a link-local address, which means nothing elsewhere. */
    private static String address(InetAddress address) {
        String text = address.getHostAddress();
        int zone = text.indexOf('%');
        return zone < 0 ? text : text.substring(0, zone);
    }

    private void add(ObjectNode row, Subject subject) {
        text(row, "tenant", subject.tenant().map(TenantName::value), StorableText.NAME);
        text(row, "idp", subject.idp().map(IdpName::value), StorableText.NAME);
        text(row, "issuer", Optional.of(subject.issuer()), StorableText.LINE);
        text(row, "subject", subject.name(), StorableText.SUBJECT);
        text(row, "token_id", subject.tokenId(), StorableText.LINE);
        row.put("token_hash", "\\x" + subject.tokenHash());
        subject.claims().ifPresent(claims -> row.set("claims", claims(claims)));
    }

    private JsonNode claims(String claims) {
        try {
            return StorableText.fit(json.readTree(claims));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("claims are no JSON", e);
        }
    }

    private static void add(ObjectNode row, GrantReference grant) {
        row.put("provider", grant.provider().value());
        row.put("provider_type", grant.providerType());
        row.put("grant_id", grant.grantId());
        row.put("grant_revision", grant.grantRevision());
    }

    private static void add(ObjectNode row, Credential credential) {
        text(row, "credential_id", credential.id(), StorableText.LINE);
        credential.issuedAt().ifPresent(at -> row.put("issued_at", time(at)));
        row.put("expires_at", time(credential.expiresAt()));
    }

    private static void text(ObjectNode row, String column, Optional<String> value, int most) {
        value.ifPresent(text -> row.put(column, StorableText.fit(text, most)));
    }

    private static String time(Instant at) {
        return at.truncatedTo(ChronoUnit.MICROS).toString();
    }
}
