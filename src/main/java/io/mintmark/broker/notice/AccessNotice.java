package io.mintmark.broker.notice;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.util.UUID;

/**
 * A row of {@code runtime.access_notice} that this replica has claimed.
 *
 * @param id of the CloudEvent
 * @param type of the CloudEvent
 * @param request the request that it is about
 * @param at when it happened
 * @param tries how often it was tried without success
 * @param url of the receiver
 * @param secret the name of the file with the secret that it is signed with
 */
record AccessNotice(
        UUID id,
        TenantName tenant,
        String type,
        UUID request,
        JsonNode data,
        Instant at,
        int tries,
        String url,
        String secret) {}
