package io.mintmark.base.tenant;

/**
 * Names a state of all that a decision about a tenant rests on. Two that differ in anything are
 * different states, whichever has the greater revision.
 *
 * @param own of the tenant's rows
 * @param shared of the tables that belong to no tenant
 */
public record TenantState(StateId own, StateId shared) {}
