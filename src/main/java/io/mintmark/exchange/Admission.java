package io.mintmark.exchange;

import io.mintmark.grant.Catalogue;
import io.mintmark.grant.Entitlements;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.Examination;
import io.mintmark.token.PresentedToken;
import io.mintmark.token.TokenVerifier;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import org.slf4j.MDC;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Verifies tokens against one state of their tenant: the identity provider that a token was
 * verified with is the one that the tenant has in the state which then decides.
 */
final class Admission {
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final TokenVerifier verifier;
    private final KnownIssuers issuers;
    private final Catalogue catalogue;
    private final MintListener listener;

    Admission(
            TokenVerifier verifier,
            KnownIssuers issuers,
            Catalogue catalogue,
            MintListener listener) {
        this.listener = listener;
        this.verifier = verifier;
        this.issuers = issuers;
        this.catalogue = catalogue;
    }

    /**
     * @param refused told of a token that isn't accepted
     */
    Verdict<Admitted> admit(PresentedToken token, Consumer<Examination> refused) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Examination examination = examine(token);
            switch (examination.verdict()) {
                case Verdict.Refused<VerifiedToken>(var refusal) -> {
                    refused.accept(examination);
                    return Verdict.refused(refusal);
                }
                case Verdict.Passed<VerifiedToken>(var verified) -> {
                    Entitlements entitlements = catalogue.entitlements(verified);
                    if (entitlements.believeToken()) {
                        MDC.put("tenant", verified.provider().tenant().value());
                        MDC.put("subject", verified.subject());
                        return Verdict.passed(new Admitted(verified, entitlements));
                    }
                }
            }
            issuers.changed();
        }
        throw new Unavailable("The token's identity provider is being changed; try again.", SOON);
    }

    /** Verifies a token against what its tenant is now, as the database alone can tell. */
    Verdict<Admitted> admitAnew(
            PresentedToken token, TenantName tenant, Consumer<Examination> refused) {
        catalogue.changed(tenant);
        return admit(token, refused);
    }

    private Examination examine(PresentedToken token) {
        long began = System.nanoTime();
        try {
            return verifier.examine(token);
        } finally {
            listener.tokenExamined(Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Uses up a token that works once. To be called once for a request. */
    Verdict<Admitted> redeem(Admitted admitted) {
        return verifier.redeem(admitted.token()).map(_ -> admitted);
    }
}
