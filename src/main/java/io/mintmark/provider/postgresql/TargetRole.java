package io.mintmark.provider.postgresql;

import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The role that a login becomes a member of, with all that it is a member of itself.
 *
 * @param name as the key has it
 * @param exists whether the server has it
 * @param mayGrant whether it has the ADMIN OPTION for any role
 * @param rules whether one of these roles is a superuser
 * @param lasts whether one of them may create roles or log in itself, and so could be made a
 *     lasting login by a session that becomes it: a role may change its own password
 * @param clock the server's, in whole seconds, up
 */
record TargetRole(
        String name,
        boolean exists,
        boolean mayGrant,
        boolean rules,
        boolean lasts,
        Instant clock) {
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,12}) ([tf]) ([tf]) ([tf]) ([tf])");

    /** Reads the role from the server. */
    static TargetRole read(Session session, String name) throws TargetFailure {
        String answer =
                session
                        .column(
                                """
                                WITH RECURSIVE held AS (
                                    SELECT oid, rolsuper, rolcreaterole OR rolcanlogin AS lasts FROM pg_roles WHERE rolname = %s
                                     UNION
                                    SELECT g.oid, g.rolsuper, g.rolcreaterole OR g.rolcanlogin
                                      FROM held AS h JOIN pg_auth_members AS m ON m.member = h.oid
                                      JOIN pg_roles AS g ON g.oid = m.roleid)
                                SELECT format('%%s %%s %%s %%s %%s', ceil(extract(epoch FROM clock_timestamp())),
                                              EXISTS (SELECT FROM held),
                                              EXISTS (SELECT FROM held AS h JOIN pg_auth_members AS m ON m.member = h.oid WHERE m.admin_option),
                                              EXISTS (SELECT FROM held WHERE rolsuper),
                                              EXISTS (SELECT FROM held WHERE lasts))
                                """
                                        .formatted(Sql.text(name)))
                        .stream()
                        .findFirst()
                        .orElse("");
        Matcher parts = FORM.matcher(answer);
        if (!parts.matches()) {
            throw session.unreadable();
        }
        return new TargetRole(
                name,
                is(parts.group(2)),
                is(parts.group(3)),
                is(parts.group(4)),
                is(parts.group(5)),
                Instant.ofEpochSecond(Long.parseLong(parts.group(1))));
    }

    private static boolean is(String letter) {
        return letter.equals("t");
    }

    /**
     * The reason why a login can't become a member of the role: a member that can make or change
     * lasting logins would outlive its own.
     */
    Optional<String> objection(LoginKey key) {
        if (!exists) {
            return Optional.of("role '%s' does not exist".formatted(name));
        }
        if (rules) {
            return Optional.of("role '%s' is a superuser, or a member of one".formatted(name));
        }
        if (mayGrant) {
            return Optional.of(
                    "role '%s' has the ADMIN OPTION for a role, which a login could grant to a permanent role"
                            .formatted(name));
        }
        return lasts && key.isOwner()
                ? Optional.of(
                        "role '%s' has LOGIN or CREATEROLE, or is a member of a role that has; a key with as: owner can't give such a role"
                                .formatted(name))
                : Optional.empty();
    }
}
