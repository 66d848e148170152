package io.mintmark.postgres;

/**
 * The group roles, as {@code db/roles.sql} made them.
 *
 * @param owner owns the schemas
 * @param app the service's
 * @param admin of platform admins
 * @param tenantAdmin of tenants' admins
 * @param auditor of auditors
 */
public record Roles(String owner, String app, String admin, String tenantAdmin, String auditor) {}
