package io.mintmark.admin.subject;

import io.mintmark.admin.subject.BlockedSubjects.Block;
import io.mintmark.admin.subject.BlockedSubjects.State;
import io.mintmark.admin.subject.BlockedSubjects.Written;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.sql.DatabaseLogin;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

/** {@code block-subject}: blocks a subject, and lists its active credentials. */
@Command(
        name = "block-subject",
        description = {
            "Blocks a subject: the broker denies its mint requests, whatever its grants allow."
                    + " Lists its active credentials, their expiry, and how to end them early.",
            "Connects with DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD. Tenant admins can"
                    + " block in their tenants, platform admins in all tenants.",
            "Running it again is safe: it can extend an existing block, but never shortens one."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:The subject is blocked.",
            "1:The subject is not blocked.",
            "2:Wrong usage.",
            "4:The subject is blocked, but no grant and no log row names it: check the spelling."
        })
public final class BlockSubject implements Callable<Integer> {
    /**
     * The time limit of the command, which may wait for locks because other edits are in progress
     * during an incident.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    /** The time that replicas may take to end credentials. */
    private static final Duration END_PATIENCE = Duration.ofSeconds(30);

    /** Exit code if the subject is blocked, but appears in no grant and no log row. */
    static final int UNSEEN = 4;

    private static final String EVERY_SUBJECT = "**";

    @ArgGroup(multiplicity = "1")
    private Where where = new Where();

    @Option(
            names = "--idp",
            paramLabel = "NAME",
            description = "Identity provider of the subject; by default, any of the tenant's.")
    private @Nullable String idp;

    @Option(
            names = "--subject",
            description =
                    "The sub claim, or a glob. Required, except with --claim: then every subject"
                            + " by default.")
    private @Nullable String subject;

    @Option(
            names = "--claim",
            paramLabel = "NAME=VALUE",
            description =
                    "Stops only tokens with this claim, such as repository_id=7654321; * and ** in"
                            + " VALUE work as in grants. Repeat the option for more claims:"
                            + " values of one name are alternatives, and every name must"
                            + " match.")
    private List<String> claims = new ArrayList<>();

    @Option(
            names = "--match",
            paramLabel = "exact|glob",
            defaultValue = "exact",
            description = "exact, the default, or glob as in grants, such as 'repo:acme/app:**'.")
    private String match = "exact";

    @Option(names = "--reason", required = true, description = "The reason, such as the incident.")
    private String reason = "";

    @Option(
            names = "--until",
            paramLabel = "TIME",
            description =
                    "End of the block: a time such as 2026-03-01T12:00:00Z, or a duration such as"
                            + " PT8H or P7D; by default, the block lasts until it is lifted.")
    private @Nullable String until;

    @Option(
            names = "--end",
            description =
                    "Also ends the subject's credentials where the broker can: credentials with"
                            + " an object at their provider, and certificates of types ssh and"
                            + " x509. Servers refuse"
                            + " revoked certificates once they have fetched the revocation list.")
    private boolean end;

    private final Map<String, CredentialType> types;
    private final Supplier<DatabaseLogin> login;
    private final Duration timeout;
    private final Duration endTimeout;
    private final PrintStream out;

    /** The tenants in which to block: exactly one of these options. */
    private static final class Where {
        @Option(names = "--tenant", paramLabel = "NAME", description = "Blocks in one tenant.")
        private @Nullable String tenant;

        @Option(names = "--all-tenants", description = "Blocks in all tenants.")
        private boolean all;
    }

    /**
     * @param login requested when the command runs
     */
    public BlockSubject(
            Map<String, CredentialType> types, Supplier<DatabaseLogin> login, PrintStream out) {
        this(types, login, TIMEOUT, END_PATIENCE, out);
    }

    /**
     * @param login requested when the command runs
     * @param timeout how long to wait for locks that other sessions hold
     * @param endTimeout how long to wait for replicas that end credentials
     */
    BlockSubject(
            Map<String, CredentialType> types,
            Supplier<DatabaseLogin> login,
            Duration timeout,
            Duration endTimeout,
            PrintStream out) {
        this.types = types;
        this.login = login;
        this.timeout = timeout;
        this.endTimeout = endTimeout;
        this.out = out;
    }

    @Override
    public Integer call() {
        if (subject == null && claims.isEmpty()) {
            throw new CommandFailed("give --subject, or --claim, or both. Nothing was blocked");
        }
        String conditions = BlockedClaims.json(claims);
        try (BlockedSubjects subjects = new BlockedSubjects(login.get(), timeout)) {
            Block block =
                    new Block(
                            where.all ? Optional.empty() : Optional.ofNullable(where.tenant),
                            Optional.ofNullable(idp),
                            subject == null ? EVERY_SUBJECT : subject,
                            subject == null || subject.equals(EVERY_SUBJECT) ? "glob" : match,
                            conditions,
                            reason,
                            Optional.ofNullable(until).map(text -> end(text, subjects)));
            refuseOneForm(block, subjects.otherForm(block));
            Written written = subjects.block(block);
            blocked(block, written);
            lifting(written, subjects.beside(block, written.id()));
            written.messages().forEach(each -> out.println(VisibleText.of(each)));
            new ActiveCredentialReport(types, out)
                    .print(subjects.living(block), written.id(), ends(subjects, block));
            if (!claims.isEmpty()) {
                uncertain(subjects.uncertain(block));
                return 0;
            }
            return subjects.unseen(block, written.id()).map(this::unseen).orElse(0);
        }
    }

    private static void refuseOneForm(Block block, Optional<String> otherForm) {
        if (otherForm.isPresent()) {
            throw GithubSubject.oneFormOnly(block, otherForm.get());
        }
    }

    /** A function that ends credentials, prints the results, and returns the mints that ended. */
    private Function<List<ActiveCredential>, Set<UUID>> ends(
            BlockedSubjects subjects, Block block) {
        EarlyRevocations ends = subjects.ends();
        return end
                ? living ->
                        new EarlyRevocationReport(ends, endTimeout, out)
                                .report(ends.end(block), living)
                : _ -> Set.of();
    }

    private void uncertain(long credentials) {
        if (credentials > 0) {
            out.printf(
                    "%nNot listed: %d active credentials that this block may concern too. They can't be compared with the block, because the log records only claims that a grant checks. audit.active_credential lists all credentials.%n",
                    credentials);
        }
    }

    private int unseen(Optional<String> nearest) {
        out.printf(
                "%nWarning: no grant and no log row names this subject. It is blocked anyway; check"
                        + " the spelling.%s%n",
                nearest.map(known -> " Did you mean " + VisibleText.of(known) + "?").orElse(""));
        return UNSEEN;
    }

    /** Rejects an end in the past: such a block would have no effect. */
    private static Instant end(String text, BlockedSubjects subjects) {
        Instant end = time(text, subjects);
        Instant now = subjects.now();
        if (!end.isAfter(now)) {
            throw new CommandFailed(
                    "--until: %s is in the past; the database's time is %s. Nothing was blocked"
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
                "%s%s %s%s%s%s, %s (row %d of broker.blocked_subject).%n",
                switch (written.state()) {
                    case NEW -> "Blocked: ";
                    case EXTENDED -> "Blocked for longer: ";
                    case KNOWN -> "Blocked already: ";
                },
                block.match().equals("glob") ? "subjects like" : "subject",
                VisibleText.of(block.subject()),
                claims.isEmpty() ? "" : " with claims " + VisibleText.of(block.claims()),
                block.idp().map(name -> " of " + name).orElse(""),
                block.tenant().map(name -> " in tenant " + name).orElse(" in all tenants"),
                written.until().map(end -> "until " + end).orElse("until it is lifted"),
                written.id());
        if (written.state() == State.KNOWN) {
            out.printf(
                    "The block was written by %s at %s. Its reason: %s.%n",
                    VisibleText.of(written.by()), written.at(), VisibleText.of(written.reason()));
            if (block.until().isPresent() && !block.until().equals(written.until())) {
                out.println("The block is unchanged: this command never shortens a block.");
            }
        }
    }

    private void lifting(Written written, List<String> beside) {
        out.printf(
                "The broker denies the mint requests that the block matches. To lift the block:"
                        + " UPDATE"
                        + " broker.blocked_subject SET enabled = false WHERE id = %d;%n",
                written.id());
        if (!beside.isEmpty()) {
            out.println(
                    "After that, these other blocks still apply to all or some of the same"
                            + " requests:");
            beside.forEach(block -> out.println("  " + VisibleText.of(block)));
        }
        out.println();
    }
}
