package io.mintmark.broker.token;

import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;

import java.util.Optional;

/**
 * The result of verifying a token, with the values for the audit log.
 *
 * @param tokenHash SHA-256 of the token as it was presented
 * @param knownIssuer the issuer that the token claims, if any provider has it
 * @param provider the provider that the claimed issuer and audience lead to, if it is exactly one.
 *     Unless the verdict is passed, both are unverified.
 */
@SuppressWarnings("ArrayRecordComponent")
public record Examination(
        Verdict<VerifiedToken> verdict,
        byte[] tokenHash,
        Optional<String> knownIssuer,
        Optional<IdentityProvider> provider) {

    public Examination {
        tokenHash = tokenHash.clone();
    }

    static Examination refused(Refusal refusal, byte[] tokenHash) {
        return new Examination(
                Verdict.refused(refusal), tokenHash, Optional.empty(), Optional.empty());
    }

    @Override
    public byte[] tokenHash() {
        return tokenHash.clone();
    }
}
