package io.mintmark.base.sql;

/**
 * The group roles, as {@code db/roles.sql} made them.
 *
 * @param owner owns the schemas
 * @param app the service's
 * @param admin of platform admins
 * @param tenantAdmin of tenants' admins
 * @param auditor of auditors
 * @param console of the console's login
 */
public record Roles(
        String owner,
        String app,
        String admin,
        String tenantAdmin,
        String auditor,
        String console) {
    /** The names of all roles, in the order of {@code db/roles.sql}. */
    public String[] names() {
        return new String[] {owner, app, admin, tenantAdmin, auditor, console};
    }
}
