package io.mintmark.postgres;

import io.mintmark.audit.Event;
import io.mintmark.postgres.connection.Database;
import io.mintmark.postgres.connection.DatabaseLogin;
import io.mintmark.postgres.log.PostgresEventStore;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Writes what mints leave in the audit log, one after the other, with no broker around it. */
public final class LoggedMints implements AutoCloseable {
    private static final TenantName TENANT = new TenantName("acme");

    private final Database database;
    private final PostgresEventStore store;

    /** Logs in as a broker does. */
    public LoggedMints(String url, String username, String password) {
        database = new Database(new DatabaseLogin(url, username, Optional.of(password)));
        store = new PostgresEventStore(database, "floor");
    }

    /** Commits the intent, asks for the state behind it, and commits the outcome. */
    public Map<TenantName, TenantState> mint() {
        List<Event> rows = AuditRows.mint("ci:main", "{\"aud\":\"load\"}");
        Map<TenantName, TenantState> states =
                store.append(List.of(rows.getFirst()), Set.of(TENANT));
        store.append(List.of(rows.getLast()));
        return states;
    }

    @Override
    public void close() {
        database.close();
    }
}
