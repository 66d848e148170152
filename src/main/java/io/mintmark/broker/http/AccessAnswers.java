package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.time.Timestamps;
import io.mintmark.broker.approval.AccessRequest;
import io.mintmark.broker.approval.AccessRequest.Asked;
import io.mintmark.broker.approval.AccessRequest.Named;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Requests for access as clients see them. */
final class AccessAnswers {
    private AccessAnswers() {}

    static ObjectNode asked(List<Asked> all) {
        ObjectNode body = Json.object();
        ArrayNode list = body.putArray("requests");
        all.forEach(one -> {
            ObjectNode own =
                    list.addObject()
                            .put("id", one.id().toString())
                            .put("key", one.key().value())
                            .put("status", one.status())
                            .put("approvalsNeeded", one.approvalsNeeded())
                            .put("expiresAt", time(one.expiresAt()));
            one.grantId().ifPresent(id -> own.put("grantId", id));
        });
        return body;
    }

    static ObjectNode list(List<AccessRequest> requests) {
        ObjectNode body = Json.object();
        ArrayNode list = body.putArray("requests");
        requests.forEach(request -> list.add(one(request)));
        return body;
    }

    static ObjectNode one(AccessRequest request) {
        ObjectNode body =
                Json.object()
                        .put("id", request.id().toString())
                        .put("key", request.key().value())
                        .put("status", request.status())
                        .put("subject", request.requester().subject());
        request.requester().idp().ifPresent(idp -> body.put("idp", idp));
        request.actor()
                .ifPresent(actor -> {
                    body.put("actor", actor.subject());
                    actor.idp().ifPresent(idp -> body.put("actorIdp", idp));
                });
        body.put("reason", request.reason())
                .put("seconds", request.access().toSeconds())
                .put("requestedAt", time(request.requestedAt()))
                .put("expiresAt", time(request.expiresAt()))
                .put("approvalsNeeded", request.approvalsNeeded())
                .put("approvals", request.approvals())
                .put("breakGlass", request.breakGlass())
                .put("mine", request.mine())
                .put("mayDecide", request.mayDecide())
                .put("mayWithdraw", request.mayWithdraw())
                .put("people", request.terms().people())
                .put("consent", request.terms().consent());
        request.terms().steps().forEach(body.putArray("steps")::add);
        request.grant()
                .ifPresent(grant -> {
                    body.put("grantId", grant.id()).put("inForce", grant.inForce());
                    grant.until().ifPresent(until -> body.put("grantedUntil", time(until)));
                });
        request.content().ifPresent(content -> show(body, content));
        ArrayNode decisions = body.putArray("decisions");
        request.decisions().forEach(decision -> decisions.add(decision(decision)));
        if (!request.credentials().isEmpty()) {
            ArrayNode credentials = body.putArray("credentials");
            request.credentials().forEach(minted -> credentials.add(minted(minted)));
        }
        return body;
    }

    private static void show(ObjectNode body, AccessRequest.Content content) {
        ObjectNode gives =
                body.putObject("gives")
                        .put("provider", content.provider())
                        .put("type", content.type());
        content.target().ifPresent(target -> gives.put("target", target));
        gives.set("settings", content.settings());
        gives.put("maxDuration", content.maxDuration().toSeconds());
        content.outputs().forEach(gives.putArray("outputs")::add);
        body.putObject("revisions")
                .put("rule", content.revisions().rule())
                .put("key", content.revisions().key())
                .put("accessProvider", content.revisions().accessProvider());
    }

    private static ObjectNode decision(AccessRequest.Decision decision) {
        Named by = decision.by();
        ObjectNode body =
                Json.object().put("verdict", decision.verdict()).put("decidedBy", by.subject());
        by.idp().ifPresent(idp -> body.put("idp", idp));
        body.put("program", decision.program());
        decision.steps().forEach(body.putArray("steps")::add);
        decision.note().ifPresent(note -> body.put("note", note));
        return body.put("at", time(decision.at()));
    }

    private static ObjectNode minted(AccessRequest.Minted minted) {
        return Json.object()
                .put("mintId", minted.mint().toString())
                .put("type", minted.type())
                .put("state", minted.state())
                .put("expiresAt", time(minted.expiresAt()));
    }

    private static String time(Instant at) {
        return Timestamps.text(at.truncatedTo(ChronoUnit.MILLIS));
    }
}
