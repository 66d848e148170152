package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One mint as a timeline, and what can be done about it. */
record MintPage(Mint mint, Optional<CloudLog> cloud, List<Statements.Statement> statements) {

    static MintPage of(Connection connection, Mint mint, Instant now) throws SQLException {
        return new MintPage(mint, CloudLog.of(mint), statements(connection, mint, now));
    }

    static String title(Mint mint) {
        return switch (mint.line().outcome()) {
            case DENIED, REJECTED -> "Refusal " + Frame.shortened(mint.line().id());
            default -> "Mint " + Frame.shortened(mint.line().id());
        };
    }

    private static List<Statements.Statement> statements(
            Connection connection, Mint mint, Instant now) throws SQLException {
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
        if (line.lackedGrant()) {
            statements.add(
                    Statements.give(
                            tenant,
                            line.idp().orElse(""),
                            line.subject().get(),
                            line.key().orElse("")));
        }
        if (!line.wasBlocked()) {
            SubjectActivity activity = SubjectActivity.of(connection, line.subject().get(), now);
            statements.add(
                    Statements.block(
                            tenant, line.idp(), line.subject().get(), activity.outstanding(now)));
        }
        return statements;
    }

    /** All mints and refusals of its tenant that share an id with it, as a list. */
    String alike(String id) {
        return "/mints?q=%s&tenant=%s"
                .formatted(Links.encoded(id), Links.encoded(mint.line().tenant().orElse("")));
    }

    boolean isRefusal() {
        return mint.line().outcome() == MintOutcome.DENIED
                || mint.line().outcome() == MintOutcome.REJECTED;
    }

    /** Whether an explanation of it can be asked for. */
    boolean isExplicable() {
        return mint.line().outcome() != MintOutcome.REJECTED && mint.line().subject().isPresent();
    }
}
