package io.mintmark.broker.wiring;

import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.base.config.AuditSettings.OnLoss;
import io.mintmark.base.config.Password;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.file.RereadFile;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.start.Certificates;
import io.mintmark.base.time.Clocks;
import io.mintmark.broker.identity.BuiltInIdentity;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What is known before a broker is put together; its database has its schema.
 *
 * @param destinations where it may connect to
 * @param identity not started yet
 * @param witnesses that cosign checkpoints
 * @param held the keys that a token holds
 * @param certificates of the ports
 * @param clocks this machine's and the database's
 * @param signatures whose code signs and verifies
 * @param replica the name of this one, for the audit log's readers
 */
record Prepared(
        ServiceSettings settings,
        Destinations destinations,
        OwnIdentity identity,
        SealingKeys seals,
        Optional<WitnessPolicy> witnesses,
        HeldKeys held,
        Certificates certificates,
        Clocks clocks,
        String signatures,
        String replica) {

    /** The local clock. */
    InstantSource clock() {
        return clocks.own();
    }

    /** The keys whose declarations end a stop after a loss; empty if a loss stops nothing. */
    Optional<TrustedKeys> declaring() {
        return settings.audit().onLoss() == OnLoss.STOP
                ? Optional.of(new TrustedKeys(seals.published()))
                : Optional.empty();
    }

    /** The files that are read again while the broker serves. */
    List<RereadFile> rereadFiles() {
        return Stream.of(
                        certificates.server().map(PortTls::file),
                        certificates.admin().map(PortTls::file),
                        identity.issuer().flatMap(BuiltInIdentity::file),
                        settings.database().login().password().flatMap(Password::file))
                .flatMap(Optional::stream)
                .toList();
    }
}
