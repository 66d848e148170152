package io.mintmark.cli;

import io.mintmark.audit.VisibleText;
import io.mintmark.credential.ActiveCredential;
import io.mintmark.credential.CredentialType;
import io.mintmark.postgres.admin.BlockedSubjects;
import io.mintmark.postgres.admin.BlockedSubjects.Block;
import io.mintmark.postgres.admin.BlockedSubjects.State;
import io.mintmark.postgres.admin.BlockedSubjects.Written;
import io.mintmark.postgres.admin.EarlyEnds;
import io.mintmark.postgres.connection.DatabaseLogin;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

/** {@code block-subject}: denies a subject everything, and lists what it still has. */
@Command(
        name = "block-subject",
        description = {
            "Blocks a subject despite its grants: no mint starts for it any more. Lists what"
                    + " it holds and until when, and says for each type what ends that sooner.",
            "Writes to the database with DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD, and"
                    + " may what that login may: tenant admins block in their tenants, platform"
                    + " admins everywhere.",
            "It can be run again: a block that is there already isn't written twice, and may become"
                    + " a longer one, never a shorter one."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:The subject is blocked.",
            "1:The subject is not blocked.",
            "2:Wrong usage.",
            "4:The subject is blocked, and no grant and no row of the log has it: check the spelling."
        })
final class BlockSubject implements Callable<Integer> {
    /** For the lock waits of a command in an incident, while other edits are in progress. */
    static final Duration PATIENCE = Duration.ofSeconds(15);

    /** How long credentials may take to be ended. */
    static final Duration END_PATIENCE = Duration.ofSeconds(30);

    /** The exit code if the subject is blocked, and unknown, perhaps misspelled. */
    static final int UNSEEN = 4;

    private static final List<String> HEAD =
            List.of("until", "tenant", "key", "type", "outcome", "credential", "mint", "subject");

    @ArgGroup(multiplicity = "1")
    private Where where = new Where();

    @Option(
            names = "--idp",
            paramLabel = "NAME",
            description =
                    "The identity provider whose subject is meant; any of the tenant's if not given.")
    private @Nullable String idp;

    @Option(names = "--subject", required = true, description = "The sub claim, or a glob.")
    private String subject = "";

    @Option(
            names = "--match",
            paramLabel = "exact|glob",
            defaultValue = "exact",
            description = "exact if not given; glob: as in grants, such as 'repo:acme/app:**'.")
    private String match = "exact";

    @Option(names = "--reason", required = true, description = "Why, such as the incident.")
    private String reason = "";

    @Option(
            names = "--until",
            paramLabel = "TIME",
            description =
                    "When the block ends: 2026-03-01T12:00:00Z, or from now on such as PT8H or P7D;"
                            + " by default, when it is lifted.")
    private @Nullable String until;

    @Option(
            names = "--end",
            description =
                    "Also ends its credentials where the broker can: those that leave something at"
                            + " their provider, and ssh and x509, which servers refuse once they have"
                            + " fetched the revocation list.")
    private boolean end;

    private final Map<String, CredentialType> types;
    private final Supplier<DatabaseLogin> login;
    private final Duration patience;
    private final Duration endPatience;
    private final PrintStream out;

    /** Exactly one of them. */
    private static final class Where {
        @Option(names = "--tenant", paramLabel = "NAME", description = "Blocks in one tenant.")
        private @Nullable String tenant;

        @Option(names = "--all-tenants", description = "Blocks in all tenants.")
        private boolean all;
    }

    /**
     * @param types all types, by name
     * @param login requested when the command runs
     * @param patience how long to wait for locks that other sessions hold
     * @param endPatience how long to wait for replicas that end credentials
     */
    BlockSubject(
            Map<String, CredentialType> types,
            Supplier<DatabaseLogin> login,
            Duration patience,
            Duration endPatience,
            PrintStream out) {
        this.types = types;
        this.login = login;
        this.patience = patience;
        this.endPatience = endPatience;
        this.out = out;
    }

    @Override
    public Integer call() {
        try (BlockedSubjects subjects = new BlockedSubjects(login.get(), patience)) {
            Block block =
                    new Block(
                            where.all ? Optional.empty() : Optional.ofNullable(where.tenant),
                            Optional.ofNullable(idp),
                            subject,
                            match,
                            reason,
                            Optional.ofNullable(until).map(text -> end(text, subjects)));
            Written written = subjects.block(block);
            blocked(block, written);
            lifting(written, subjects.beside(block, written.id()));
            written.warnings().forEach(each -> out.println("Warning: " + VisibleText.of(each)));
            held(subjects.living(block), written.id(), ends(subjects, block));
            return subjects.unseen(block, written.id()).map(this::unseen).orElse(0);
        }
    }

    /** What prints how the credentials were ended, and returns which have. */
    private Function<List<ActiveCredential>, Set<UUID>> ends(
            BlockedSubjects subjects, Block block) {
        EarlyEnds ends = subjects.ends();
        return end
                ? living -> new EarlyEnding(ends, endPatience, out).report(ends.end(block), living)
                : _ -> Set.of();
    }

    private int unseen(Optional<String> nearest) {
        out.printf(
                "%nWarning: no such subject was ever seen; blocked all the same.%s%n",
                nearest.map(known -> " Did you mean " + VisibleText.of(known) + "?").orElse(""));
        return UNSEEN;
    }

    /** Rejects an end in the past: such a block would have no effect. */
    private static Instant end(String text, BlockedSubjects subjects) {
        Instant end = time(text, subjects);
        Instant now = subjects.now();
        if (!end.isAfter(now)) {
            throw new CommandFailed(
                    "--until: %s is past, by the database's clock it is %s; nothing is blocked"
                            .formatted(end, now));
        }
        return end;
    }

    private static Instant time(String text, BlockedSubjects subjects) {
        try {
            return text.startsWith("P")
                    ? subjects.now().truncatedTo(ChronoUnit.SECONDS).plus(Duration.parse(text))
                    : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeParseException e) {
            throw new CommandFailed(
                    "--until: '%s' is neither a time, such as 2026-03-01T12:00:00Z, nor a duration, such as PT8H or P7D"
                            .formatted(VisibleText.of(text)));
        }
    }

    private void blocked(Block block, Written written) {
        out.printf(
                "%s%s %s%s%s, %s (row %d of broker.blocked_subject).%n",
                switch (written.state()) {
                    case NEW -> "Blocked: ";
                    case EXTENDED -> "Blocked for longer: ";
                    case KNOWN -> "Blocked already: ";
                },
                block.match().equals("glob") ? "subjects like" : "subject",
                VisibleText.of(block.subject()),
                block.idp().map(name -> " of " + name).orElse(""),
                block.tenant().map(name -> " in tenant " + name).orElse(" in all tenants"),
                written.until().map(end -> "until " + end).orElse("until it is lifted"),
                written.id());
        if (written.state() == State.KNOWN) {
            out.printf(
                    "So %s wrote it at %s, because %s.%n",
                    VisibleText.of(written.by()), written.at(), VisibleText.of(written.reason()));
            if (block.until().isPresent() && !block.until().equals(written.until())) {
                out.println("It stays so: this command makes no block shorter.");
            }
        }
    }

    private void lifting(Written written, List<String> beside) {
        out.printf(
                "No mint starts for it any more. To lift it: UPDATE broker.blocked_subject SET enabled = false WHERE id = %d;%n",
                written.id());
        if (!beside.isEmpty()) {
            out.println("After that, these still block it, wholly or in part:");
            beside.forEach(block -> out.println("  " + VisibleText.of(block)));
        }
        out.println();
    }

    private void held(
            List<ActiveCredential> living,
            long block,
            Function<List<ActiveCredential>, Set<UUID>> ending) {
        if (living.isEmpty()) {
            out.println("It has no valid credential that you may see.");
            return;
        }
        out.printf(
                "%d credential%s of it live%s, or may (withheld: it was obtained and dropped; unresolved, failed: only the provider knows):%n%n",
                living.size(), living.size() == 1 ? "" : "s", living.size() == 1 ? "s" : "");
        out.print(Table.of(HEAD, living.stream().map(BlockSubject::cells).toList()));
        Set<UUID> ended = ending.apply(living);
        ActiveCredential.by(
                        ActiveCredential::type,
                        living.stream().filter(one -> !ended.contains(one.mintId())).toList())
                .forEach((type, these) -> endings(type, these, block));
    }

    private void endings(String type, List<ActiveCredential> credentials, long block) {
        CredentialType known = types.get(type);
        if (known == null) {
            out.printf("%n%s: this release does not know the type.%n", type);
            return;
        }
        known.earlyEnds(credentials, block)
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
