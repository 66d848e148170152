package io.mintmark.console.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One mint as a timeline, and what can be done about it. */
record MintPage(Mint mint, Optional<CloudLog> cloud, List<Statements.Statement> statements) {

    static MintPage of(Mint mint) {
        return new MintPage(mint, CloudLog.of(mint), statements(mint));
    }

    static String title(Mint mint) {
        return switch (mint.line().outcome()) {
            case DENIED, REJECTED -> "Refusal " + Frame.shortened(mint.line().id());
            default -> "Mint " + Frame.shortened(mint.line().id());
        };
    }

    private static List<Statements.Statement> statements(Mint mint) {
        MintLine line = mint.line();
        List<Statements.Statement> statements = new ArrayList<>();
        if (line.tenant().isEmpty() || line.subject().isEmpty()) {
            return statements;
        }
        String tenant = line.tenant().get();
        if (mint.grantThen().flatMap(Mint.GrantThen::enabledNow).orElse(false)) {
            mint.origin().grantId().ifPresent(id -> statements.add(Statements.revoke(tenant, id)));
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
            statements.add(Statements.block(tenant, line.idp(), line.subject().get()));
        }
        return statements;
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
