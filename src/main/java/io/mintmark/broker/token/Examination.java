package io.mintmark.broker.token;

import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;

import java.util.Optional;

/**
 * The result of verifying a token, with the values for the audit log.
 *
 * @param finding the verdict, or why there is none
 * @param tokenHash SHA-256 of the token as it was presented
 * @param knownIssuer the issuer that the token claims, if any provider has it
 * @param provider the provider that the claimed issuer and audience lead to, if it is exactly one.
 *     Unless the verdict is passed, both are unverified.
 */
@SuppressWarnings("ArrayRecordComponent")
public record Examination(
        Finding finding,
        byte[] tokenHash,
        Optional<String> knownIssuer,
        Optional<IdentityProvider> provider) {

    public Examination {
        tokenHash = tokenHash.clone();
    }

    /** The result of the examination. */
    public sealed interface Finding {

        /** The token is accepted or not. */
        record Decided(Verdict<VerifiedToken> verdict) implements Finding {}

        /** Something that the verdict needs is missing for now. */
        record Open(Unavailable missing) implements Finding {}
    }

    static Examination refused(Refusal refusal, byte[] tokenHash) {
        return new Examination(
                new Finding.Decided(Verdict.refused(refusal)),
                tokenHash,
                Optional.empty(),
                Optional.empty());
    }

    /**
     * The verdict.
     *
     * @throws Unavailable if the issuer's keys can't be had
     */
    public Verdict<VerifiedToken> verdict() {
        return switch (finding) {
            case Finding.Decided(Verdict<VerifiedToken> verdict) -> verdict;
            case Finding.Open(Unavailable missing) -> throw missing;
        };
    }

    /** The missing keys, if there is no verdict because the issuer's keys can't be fetched. */
    public Optional<Unavailable> keysMissing() {
        return finding instanceof Finding.Open(Unavailable missing)
                        && missing.part() == Unavailable.Part.ISSUER
                ? Optional.of(missing)
                : Optional.empty();
    }

    @Override
    public byte[] tokenHash() {
        return tokenHash.clone();
    }
}
