package io.mintmark.admin.check;

import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.sql.Database;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.PostgresIdentityProviders;
import io.mintmark.broker.token.OwnIssuer;

import java.util.List;
import java.util.Optional;

/**
 * Identity providers that can never work, because their issuer is the broker itself. The database
 * warns of them from the first checkpoint with a note on, and accepts them.
 */
final class OwnIssuerRows {
    private OwnIssuerRows() {}

    /** A note for each identity provider whose issuer is the broker's own. */
    static List<String> notes(Optional<BrokerSettings> broker, Database database) {
        OwnIssuer own =
                broker.flatMap(BrokerSettings::issuer)
                        .map(url -> new OwnIssuer(url.toString()))
                        .orElse(OwnIssuer.NONE);
        try {
            return new PostgresIdentityProviders(database, System::nanoTime)
                    .entries().byName().stream()
                            .filter(entry -> own.is(entry.issuer()))
                            .map(entry ->
                                    "identity provider '%s' is ignored: its issuer %s is the broker's own, whose tokens are never accepted; delete the row"
                                            .formatted(
                                                    entry.version().name().value(), entry.issuer()))
                            .toList();
        } catch (Unavailable e) {
            return List.of();
        }
    }
}
