package io.mintmark.admin.subject;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.output.Table;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/** Prints the active credentials of a blocked subject, and how to end them. */
final class ActiveCredentialReport {
    private static final List<String> HEAD =
            List.of("until", "tenant", "key", "type", "outcome", "credential", "mint", "subject");

    private final Map<String, CredentialType> types;
    private final PrintStream out;

    ActiveCredentialReport(Map<String, CredentialType> types, PrintStream out) {
        this.types = types;
        this.out = out;
    }

    /**
     * Prints the credentials, ends them, and says how to end those that are left.
     *
     * @param block the row that stops their subject
     * @param ending ends credentials, and returns the mints that ended
     */
    void print(
            List<ActiveCredential> living,
            long block,
            Function<List<ActiveCredential>, Set<UUID>> ending) {
        if (living.isEmpty()) {
            out.println("The subject has no active credential that you may see.");
            return;
        }
        out.printf(
                "Active credentials: %d (withheld: obtained but dropped by the broker; unresolved"
                        + " or failed: only the provider knows whether the credential exists):%n%n",
                living.size());
        out.print(Table.of(HEAD, living.stream().map(ActiveCredentialReport::cells).toList()));
        Set<UUID> ended = ending.apply(living);
        ActiveCredential.by(
                        ActiveCredential::type,
                        living.stream().filter(one -> !ended.contains(one.mintId())).toList())
                .forEach((type, these) -> endings(type, these, block));
    }

    private void endings(String type, List<ActiveCredential> credentials, long block) {
        CredentialType known = types.get(type);
        if (known == null) {
            out.printf(
                    "%n%s: this release does not know the provider type, so it can't say how"
                            + " to end these credentials.%n",
                    type);
            return;
        }
        known.manualRevocations(credentials, block)
                .forEach(end -> {
                    out.printf(
                            "%n%s%s, until %s:%n",
                            type,
                            end.target().isEmpty() ? "" : ", " + VisibleText.of(end.target()),
                            end.lastExpiry());
                    end.lines().forEach(line -> out.println("  " + VisibleText.of(line)));
                });
    }

    private static List<String> cells(ActiveCredential one) {
        return List.of(
                one.expiresAt().toString(),
                one.tenant(),
                one.key(),
                one.type(),
                one.outcome(),
                one.credentialId().map(VisibleText::of).orElse("-"),
                one.mintId().toString(),
                VisibleText.of(one.subject()));
    }
}
