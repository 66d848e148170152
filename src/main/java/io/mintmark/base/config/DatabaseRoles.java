package io.mintmark.base.config;

import java.util.List;

/**
 * The names of the group roles that migrations grant privileges to. All are plain lower-case names,
 * safe to put into SQL.
 *
 * @param owner owns the schemas
 * @param app the service
 * @param admin platform admins
 * @param tenantAdmin those who edit keys and grants of their tenants
 * @param auditor those who read everything
 * @param console the console's login
 */
public record DatabaseRoles(
        String owner,
        String app,
        String admin,
        String tenantAdmin,
        String auditor,
        String console) {
    static final Setting<String> OWNER = role("owner", "that owns the schemas");
    static final Setting<String> APP = role("app", "of the service");
    static final Setting<String> ADMIN = role("admin", "of platform admins");
    static final Setting<String> TENANT_ADMIN = role("tenant-admin", "of tenants' admins");
    static final Setting<String> AUDITOR = role("auditor", "of auditors");
    static final Setting<String> CONSOLE = role("console", "of the console's login");

    static final List<Setting<?>> TABLE =
            List.of(OWNER, APP, ADMIN, TENANT_ADMIN, AUDITOR, CONSOLE);

    static DatabaseRoles from(Values values) {
        return new DatabaseRoles(
                values.get(OWNER),
                values.get(APP),
                values.get(ADMIN),
                values.get(TENANT_ADMIN),
                values.get(AUDITOR),
                values.get(CONSOLE));
    }

    private static Setting<String> role(String word, String purpose) {
        return Setting.of(
                "database." + word + "-role",
                Formats.ROLE_NAME,
                "mintmark_" + word.replace('-', '_'),
                "Group role " + purpose + ".");
    }
}
