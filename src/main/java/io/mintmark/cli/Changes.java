package io.mintmark.cli;

import io.mintmark.grant.Catalogue;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.postgres.Notifications;
import io.mintmark.tenant.TenantName;

/** Passes on what is heard of changed configuration. */
record Changes(Catalogue catalogue, KnownIssuers issuers) implements Notifications.Listener {

    @Override
    public void changed(String tenant) {
        if (TenantName.isValid(tenant)) {
            catalogue.changed(new TenantName(tenant));
        } else {
            catalogue.allChanged();
        }
        issuers.changed();
    }

    @Override
    public void unsure() {
        catalogue.allChanged();
        issuers.changed();
    }
}
