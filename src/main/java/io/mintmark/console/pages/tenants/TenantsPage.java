package io.mintmark.console.pages.tenants;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The tenants that a viewer sees, sorted by name.
 *
 * @param beginning the prefix of the names
 * @param tenants one more than are shown if there are more
 */
public record TenantsPage(Optional<String> beginning, List<TenantLine> tenants) {
    private static final int MOST = 40;

    /** The page at {@code /tenants}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        return View.of(
                "Tenants",
                "tenants/tenants",
                of(connection, parameters.text("q"), parameters.text("after"), now));
    }

    private static TenantsPage of(
            Connection connection, Optional<String> beginning, Optional<String> after, Instant now)
            throws SQLException {
        return new TenantsPage(
                beginning,
                TenantLine.after(
                        connection, beginning.orElse(""), after.orElse(""), MOST + 1, now));
    }

    List<TenantLine> shown() {
        return tenants.size() > MOST ? tenants.subList(0, MOST) : tenants;
    }

    /** Whether the numbers of lint warnings include those of keys. */
    boolean lintsKeys() {
        return tenants.stream().allMatch(tenant -> tenant.lint().ofKeys());
    }

    Optional<String> next() {
        return tenants.size() > MOST ? Optional.of(shown().getLast().name()) : Optional.empty();
    }
}
