package io.mintmark.wiring;

import io.mintmark.grant.Catalogue;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.postgres.Notifications;
import io.mintmark.tenant.TenantName;

/** Passes on what is heard of changed configuration. */
record Changes(Catalogue catalogue, KnownIssuers issuers) implements Notifications.Listener {

    @Override
    public void changed(TenantName tenant) {
        catalogue.changed(tenant);
        issuers.changed();
    }

    @Override
    public void unsure() {
        catalogue.allChanged();
        issuers.changed();
    }
}
