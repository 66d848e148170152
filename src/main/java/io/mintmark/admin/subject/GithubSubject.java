package io.mintmark.admin.subject;

import io.mintmark.admin.subject.BlockedSubjects.Block;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.output.CommandFailed;

/**
 * The two forms of subjects that GitHub Actions gives: with ids to repositories that were created,
 * renamed or moved since 2026-07-15, without ids to the others.
 */
final class GithubSubject {
    /**
     * Returns one row, with a glob for the other form, if a block is for the subjects without ids
     * of a repository and those with ids are not blocked.
     */
    static final String OTHER_FORM =
            "WITH "
                    + BlockedSubjects.WANTED
                    + """
                    SELECT internal.subject_by_ids(w.subject) AS form FROM wanted AS w
                     WHERE internal.is_by_name(w.subject)
                       AND EXISTS (SELECT FROM broker.identity_provider AS p
                                    WHERE (w.tenant IS NULL OR p.tenant = w.tenant) AND (w.idp IS NULL OR p.name = w.idp)
                                      AND p.issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)')
                       AND NOT internal.has_row_by_ids('blocked_subject',
                               internal.as_grant(jsonb_build_object('tenant', w.tenant, 'subject', w.subject)))
                    """;

    private GithubSubject() {}

    /** The refusal of such a block, with the commands for both. */
    static CommandFailed oneFormOnly(Block block, String otherForm) {
        String where =
                block.tenant().map(name -> "--tenant " + name).orElse("--all-tenants")
                        + block.idp().map(name -> " --idp " + name).orElse("");
        return new CommandFailed(
                """
                Nothing was blocked: "%1$s" has no ids, and repositories that were created, renamed or \
                moved since 2026-07-15 send subjects with ids. Block both forms, in this order:
                  mintmark block-subject %2$s --match glob --subject '%3$s' --reason REASON
                  mintmark block-subject %2$s --match %4$s --subject '%1$s' --reason REASON\
                """
                        .formatted(
                                VisibleText.of(block.subject()),
                                VisibleText.of(where),
                                VisibleText.of(otherForm),
                                block.match()));
    }
}
