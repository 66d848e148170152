package io.mintmark.token;

import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.Verdict;

import java.util.Optional;

/**
 * What was found out about a token, with what the audit log says of a refused one too.
 *
 * @param tokenHash SHA-256 of the token as it was presented
 * @param knownIssuer the issuer that the token claims, if any provider has it
 * @param provider the provider that the claimed issuer and audience lead to, if it is exactly one.
 *     Unless the verdict is passed, both are what the token says, and not proven.
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
