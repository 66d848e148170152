package io.mintmark.console.pages.mint;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.credential.CredentialType.LoggedMint;
import io.mintmark.base.credential.CredentialType.ProviderLog;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintOutcome;
import io.mintmark.console.pages.statements.Outstanding;
import io.mintmark.console.pages.statements.Statements;
import io.mintmark.console.pages.subjects.SubjectActivity;
import io.mintmark.console.pages.subjects.SubjectBlock;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * One mint as a timeline, and what can be done about it.
 *
 * @param approvals the request that its grant was made for, if it was
 * @param blocked whether its subject's tokens get nothing by now
 * @param given what gives its subject the key now, or could; none where no grant is lacked
 * @param stillDenied why no grant gives it now; none if one does, or where no grant is lacked
 */
public record MintPage(
        Mint mint,
        GrantRequests approvals,
        boolean blocked,
        Optional<WrittenGrants> given,
        Optional<StillDenied> stillDenied,
        List<Statements.Statement> statements) {
    private static final String MINT = "mint";
    private static final String DISARMED = "disarmed";

    /** The page at {@code /mints/{id}}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Optional<UUID> id = Parameters.uuid(request.path().pathParameters().get("id"));
        if (id.isEmpty()) {
            return View.absent(MINT);
        }
        Optional<Mint> mint = Mint.of(connection, id.get().toString(), now);
        return mint.isEmpty()
                ? View.absent(MINT)
                : View.of(title(mint.get()), "mint/mint", of(connection, mint.get(), now));
    }

    private static MintPage of(Connection connection, Mint mint, Instant now) throws SQLException {
        MintLine line = mint.line();
        List<SubjectBlock> blocks =
                line.subject().isPresent()
                        ? SubjectBlock.of(connection, line.subject().get())
                        : List.of();
        boolean blocked = isBlocked(connection, line, blocks);
        Optional<WrittenGrants> given =
                line.lackedGrant() && !blocked
                        ? Optional.of(WrittenGrants.of(connection, mint))
                        : Optional.empty();
        return new MintPage(
                mint,
                GrantRequests.of(connection, mint.origin().grantId().stream().toList()),
                blocked,
                given,
                given.filter(written -> written.inForce().isEmpty()).isPresent()
                        ? StillDenied.of(connection, mint)
                        : Optional.empty(),
                statements(connection, mint, blocks, given, now));
    }

    private static boolean isBlocked(
            Connection connection, MintLine line, List<SubjectBlock> blocks) throws SQLException {
        return line.tenant().isPresent()
                && line.subject().isPresent()
                && (blocks.stream().anyMatch(block -> block.covers(line.tenant().get(), line.idp()))
                        || SubjectBlock.isEverywhere(connection, line.subject().get()));
    }

    private static String title(Mint mint) {
        return switch (mint.line().outcome()) {
            case DENIED, REJECTED -> "Refusal " + Frame.shortened(mint.line().id());
            default -> "Mint " + Frame.shortened(mint.line().id());
        };
    }

    private static List<Statements.Statement> statements(
            Connection connection,
            Mint mint,
            List<SubjectBlock> blocks,
            Optional<WrittenGrants> given,
            Instant now)
            throws SQLException {
        MintLine line = mint.line();
        List<Statements.Statement> statements = new ArrayList<>();
        if (line.tenant().isEmpty() || line.subject().isEmpty()) {
            return statements;
        }
        String tenant = line.tenant().get();
        Optional<Long> grant = mint.origin().grantId();
        if (grant.isPresent()
                && mint.grantThen().flatMap(Mint.GrantThen::enabledNow).orElse(false)) {
            statements.add(
                    Statements.revoke(
                            tenant,
                            grant.get(),
                            Outstanding.ofGrant(connection, grant.get(), now)));
        }
        given.flatMap(written -> written.remedy(line)).ifPresent(statements::add);
        if (!line.wasBlocked()) {
            SubjectActivity activity = SubjectActivity.of(connection, line.subject().get(), now);
            SubjectBlock.further(
                            blocks,
                            tenant,
                            line.idp(),
                            line.subject().get(),
                            activity.outstanding(now))
                    .ifPresent(statements::add);
        }
        return statements;
    }

    /** The place in the provider's log; empty for denials, which never reached a provider. */
    Optional<ProviderLog> providerLog(Map<String, CredentialType> types) {
        MintLine line = mint.line();
        return line.providerType()
                .map(types::get)
                .map(type ->
                        type.log(
                                new LoggedMint(
                                        line.tenant().orElse(""),
                                        line.key().orElse(""),
                                        line.credentialId(),
                                        line.at(),
                                        line.expiresAt())));
    }

    /** The meaning of a step that says how a credential ended. */
    static Optional<String> ending(Mint.Step step) {
        return step.kind().equals("ended")
                ? step.reason()
                        .map(how ->
                                switch (how) {
                                    case "over" ->
                                            "The credential expired, and nothing is left at the provider.";
                                    case "asked_for" ->
                                            "An admin ended the credential before it expired.";
                                    case "undone" ->
                                            "The broker revoked the credential before a client received it.";
                                    case "swept" ->
                                            "The provider still listed the credential after it had expired, so the broker removed it.";
                                    case DISARMED ->
                                            "The credential is no longer valid, but objects of the credential are left at the provider.";
                                    default -> "The credential is no longer valid.";
                                })
                : Optional.empty();
    }

    /** All mints and refusals of its tenant that share an id with it, as a list. */
    String alike(String id) {
        return "/mints?q=%s&tenant=%s"
                .formatted(Links.encoded(id), Links.encoded(mint.line().tenant().orElse("")));
    }

    /** The class of a step's mark, whose colour is its outcome's; none for one that went well. */
    static @Nullable String mark(Mint.Step step) {
        return switch (step.kind()) {
            case "failed", "denied", "rejected" -> "bad";
            case "withheld" -> "doubtful";
            case "ended" -> DISARMED.equals(step.reason().orElse("")) ? "doubtful" : null;
            default -> null;
        };
    }

    boolean isRefusal() {
        return mint.line().outcome() == MintOutcome.DENIED
                || mint.line().outcome() == MintOutcome.REJECTED;
    }

    /** Whether an explanation of the mint can be requested. */
    boolean isExplicable() {
        return isExplicable(mint.line());
    }

    /**
     * Whether the decision can be explained: the token was accepted, and its subject is on record.
     */
    public static boolean isExplicable(MintLine line) {
        return line.outcome() != MintOutcome.REJECTED
                && line.idp().isPresent()
                && line.subject().isPresent();
    }
}
