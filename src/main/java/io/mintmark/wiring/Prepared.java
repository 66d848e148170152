package io.mintmark.wiring;

import io.mintmark.audit.SealingKeys;
import io.mintmark.config.ServiceSettings;
import io.mintmark.outbound.Destinations;

import java.time.InstantSource;

/**
 * What is known before a broker is put together; its database has its schema.
 *
 * @param destinations where it may connect to
 * @param identity not started yet
 * @param clock this machine's
 * @param signatures whose code signs and verifies
 * @param replica the name of this one, for the audit log's readers
 */
record Prepared(
        ServiceSettings settings,
        Destinations destinations,
        OwnIdentity identity,
        SealingKeys seals,
        InstantSource clock,
        String signatures,
        String replica) {}
