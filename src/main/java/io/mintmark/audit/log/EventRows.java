package io.mintmark.audit.log;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Actor;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Kind;
import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.canonical.StorableText;
import io.mintmark.audit.chain.Chain;
import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;

/** Writes events as JSON that one INSERT statement reads. */
final class EventRows {
    /** The expected length of a row, in characters. */
    private static final int ROW = 1_024;

    /** Numbers as they are in the token: an auditor must see what was compared. */
    private final ObjectMapper json =
            JacksonFactories.mapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .build();

    private final String broker;

    EventRows(String broker) {
        this.broker = StorableText.fit(broker, StorableText.NAME);
    }

    /** The rows, each linked to the one before it. */
    String json(List<Event> events, Chain.Draft draft) {
        StringWriter text = new StringWriter(events.size() * ROW);
        try (JsonGenerator rows = json.createGenerator(text)) {
            rows.writeStartArray();
            for (Event event : events) {
                EventRow row = new EventRow(rows);
                add(row, event);
                row.beside(
                        EventInsert.ENDS_BY_ITSELF,
                        event.credential().map(Credential::endsByItself).orElse(false));
                row.link(draft);
            }
            rows.writeEndArray();
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory failed", e);
        }
        return text.toString();
    }

    private void add(EventRow row, Event event) throws IOException {
        row.text(EventFields.MINT_ID, event.mintId().toString());
        row.number(EventFields.STEP, event.kind().step());
        row.text(EventFields.KIND, event.kind().word());
        row.time(EventFields.OCCURRED_AT, event.occurredAt());
        row.text(EventFields.BROKER, broker);
        text(row, EventFields.KEY, event.key().map(KeyName::value), StorableText.NAME);
        text(row, EventFields.REASON, event.reason(), StorableText.NAME);
        text(row, EventFields.DETAIL, event.detail(), StorableText.DETAIL);
        if (event.caller().isPresent()) {
            add(row, event.caller().get());
        }
        if (event.subject().isPresent()) {
            add(row, event.subject().get());
        }
        if (event.grant().isPresent()) {
            add(row, event.kind(), event.grant().get());
        }
        if (event.credential().isPresent()) {
            add(row, event.credential().get());
        }
        if (event.end().isPresent()) {
            add(row, event.end().get());
        }
    }

    private static void add(EventRow row, Caller caller) throws IOException {
        row.text(EventFields.REQUEST_ID, StorableText.fit(caller.requestId(), StorableText.NAME));
        row.address(EventFields.CLIENT_ADDRESS, caller.address());
        text(row, EventFields.USER_AGENT, caller.userAgent(), StorableText.LINE);
    }

    private void add(EventRow row, Subject subject) throws IOException {
        text(row, EventFields.TENANT, subject.tenant().map(TenantName::value), StorableText.NAME);
        text(row, EventFields.IDP, subject.idp().map(IdpName::value), StorableText.NAME);
        row.text(EventFields.ISSUER, StorableText.fit(subject.issuer(), StorableText.LINE));
        text(row, EventFields.SUBJECT, subject.name(), StorableText.SUBJECT);
        text(row, EventFields.TOKEN_ID, subject.tokenId(), StorableText.LINE);
        row.bytes(EventFields.TOKEN_HASH, subject.tokenHash());
        if (subject.claims().isPresent()) {
            row.json(EventFields.CLAIMS, claims(subject.claims().get()));
        }
        if (subject.actor().isPresent()) {
            add(row, subject.actor().get());
        }
    }

    private void add(EventRow row, Actor actor) throws IOException {
        text(row, EventFields.ACTOR_IDP, actor.idp().map(IdpName::value), StorableText.NAME);
        row.text(EventFields.ACTOR_ISSUER, StorableText.fit(actor.issuer(), StorableText.LINE));
        text(row, EventFields.ACTOR, actor.name(), StorableText.SUBJECT);
        text(row, EventFields.ACTOR_TOKEN_ID, actor.tokenId(), StorableText.LINE);
        if (actor.claims().isPresent()) {
            row.json(EventFields.ACTOR_CLAIMS, claims(actor.claims().get()));
        }
        if (actor.tokenHash().isPresent()) {
            row.bytes(EventFields.ACTOR_TOKEN_HASH, actor.tokenHash().get());
        }
    }

    private JsonNode claims(String claims) {
        try {
            return StorableText.fit(json.readTree(claims));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the claims are not JSON", e);
        }
    }

    /**
     * Adds the grant of a mint. The outcome doesn't repeat the grant's revisions, which the request
     * has.
     */
    private static void add(EventRow row, Kind kind, GrantReference grant) throws IOException {
        row.text(EventFields.PROVIDER, grant.provider().value());
        row.text(EventFields.PROVIDER_TYPE, grant.providerType());
        row.number(EventFields.GRANT_ID, grant.grantId());
        row.number(EventFields.GRANT_REVISION, grant.grantRevision());
        if (kind == Kind.REQUESTED) {
            row.number(EventFields.SHARED_REVISION, grant.sharedRevision());
            row.bytes(EventFields.CONFIG_HASH, grant.configHash());
        }
    }

    private static void add(EventRow row, Credential credential) throws IOException {
        text(row, EventFields.CREDENTIAL_ID, credential.id(), StorableText.LINE);
        if (credential.issuedAt().isPresent()) {
            row.time(EventFields.ISSUED_AT, credential.issuedAt().get());
        }
        row.time(EventFields.EXPIRES_AT, credential.expiresAt());
    }

    private static void add(EventRow row, End end) throws IOException {
        row.text(EventFields.TENANT, end.tenant().value());
        row.text(EventFields.PROVIDER, end.provider().value());
        row.text(EventFields.PROVIDER_TYPE, end.providerType());
        text(row, EventFields.CREDENTIAL_ID, end.credentialId(), StorableText.LINE);
    }

    private static void text(EventRow row, EventFields field, Optional<String> value, int most)
            throws IOException {
        if (value.isPresent()) {
            row.text(field, StorableText.fit(value.get(), most));
        }
    }
}
