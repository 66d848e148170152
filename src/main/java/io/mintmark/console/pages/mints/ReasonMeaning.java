package io.mintmark.console.pages.mints;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The meaning of the audit log's reason codes, and what to do about each. */
enum ReasonMeaning {
    NOT_GRANTED(
            "no grant gave the key",
            "Look at which condition failed: the link below the timeline explains it. If the subject should have the key, have the subject request access, or have an admin of the tenant grant the key."),
    ADDRESS_NOT_ALLOWED(
            "a grant gave the key, but to other networks",
            "Have the client call from a network of the grant, or have an admin of the tenant add"
                    + " the client's network to the grant."),
    NO_SUCH_KEY(
            "the tenant had no such key, or it was disabled",
            "Compare the name that the client asks for with the keys of the tenant. If the key is"
                    + " disabled, an admin of the tenant can enable it."),
    SUBJECT_BLOCKED(
            "the subject was blocked, which overrides every grant",
            "The subject's page shows who blocked it and why. If the reason no longer"
                    + " applies, an admin can end the block."),
    MALFORMED_JWT(
            "the token isn't a well-formed JWT",
            "Check that the client sends the whole token and no other credential."),
    TOKEN_EXPIRED(
            "the token had expired when it arrived",
            "Have the client get a new token right before each request. " + Words.CLOCK),
    TOKEN_NOT_YET_VALID("the token's nbf or iat is in the future", Words.CLOCK),
    TOKEN_TOO_OLD(
            "the token was issued longer ago than max_token_age of the identity provider allows",
            "Have the client get a new token right before each request."),
    TOKEN_REPLAYED(
            "the identity provider's tokens work only once, and this one was used before",
            "Have the client get a token for each request. If the client already does so, someone may have copied the token."),
    INVALID_SIGNATURE(
            "no signing key of the issuer verifies the token",
            "Compare kid in the token's header with the keys at the identity provider's jwks_uri. If the key is missing there, correct jwks_uri. If it is there, the token was forged or altered."),
    MISSING_KEY_ID(
            "the token has no kid, and the issuer has several keys",
            "Have the issuer put kid into the token's header."),
    UNSUPPORTED_ALGORITHM(
            "the identity provider's row doesn't accept the token's signature algorithm",
            "Compare alg in the token's header with algorithms of the identity provider."),
    UNKNOWN_ISSUER(
            "no enabled identity provider has the token's issuer",
            "Compare iss with the issuer of the identity provider, byte for byte."),
    INVALID_AUDIENCE(
            "no identity provider of the issuer accepts the token's audience",
            "Have the client ask for an audience that the identity provider lists in audiences."),
    AMBIGUOUS_AUDIENCE(
            "the token's audiences belong to several identity providers",
            "Have the client ask for one audience only."),
    MISSING_CLAIM(
            "the token lacks a claim that every token needs: iss, sub, aud, exp or iat",
            "Have the issuer put the claim into its tokens."),
    WRONG_TOKEN_TYPE(
            "the token is genuine, but was not made to identify its subject",
            "Have the client send an ID token or an access token. Logout tokens, security events,"
                    + " proofs and refresh tokens don't identify anyone; token_types of the identity"
                    + " provider allows further types."),
    ISSUER_KEYS_UNAVAILABLE(
            "the token couldn't be verified, because the issuer's keys couldn't be fetched",
            "Look at the detail and at the broker's log. Possible causes: a wrong jwks_uri, an expired certificate, an outage of the issuer, or a host that OUTBOUND_ALLOWED_HOSTS lacks. The client may try again."),
    CLAIMS_NOT_ACCEPTED(
            "the token doesn't meet required_claims of the identity provider",
            "Compare the token's claims with required_claims. Tokens of another organisation are"
                    + " rejected for this reason too."),
    OVERFLOW(
            "more tokens were rejected than the log records one by one; the detail has their number",
            "Look for one client that repeats a rejected request, in the broker's log."),
    PROVIDER_TIMEOUT(
            "the provider didn't answer, so a credential may exist",
            "Check the provider's status and the network between broker and provider. Assume that a credential exists until the latest time at which it could expire."),
    PROVIDER_UNREACHABLE(
            "the provider didn't answer, so a credential may exist",
            "Check the provider's status and the network between broker and provider. Assume that a credential exists until the latest time at which it could expire."),
    PROVIDER_THROTTLED(
            "the provider limits how often it may be called",
            "Have clients mint less often, or ask the provider for a higher limit."),
    PROVIDER_REJECTED(
            "the provider accepted the broker's identity, but denied the call",
            "Check what the key names, such as a role and its trust policy. " + Words.PROVIDER),
    BROKER_IDENTITY_REJECTED(
            "the provider didn't accept the broker's identity",
            "Check that the provider trusts BROKER_ISSUER and can fetch its keys. "
                    + Words.PROVIDER),
    PROVIDER_MISCONFIGURED(
            "the settings of the access provider or the key don't fit the provider",
            "Correct the settings. " + Words.PROVIDER),
    PROVIDER_ERROR(
            "the provider answered with an error or with something that isn't a credential",
            Words.PROVIDER),
    OTHER_KEY_FAILED(
            "another key of the same request failed, so no credential was returned",
            "Look at the other mints of the same request."),
    DECIDED_AGAIN(
            "the configuration changed before the provider was called, so the request was decided"
                    + " again",
            "Nothing to do. The other mints of the same request show its result."),
    TENANT_BUSY(
            "the tenant had too many requests in flight",
            "Have clients mint less often, or ask a platform admin to raise max_calls of the"
                    + " tenant."),
    AUDIT_UNAVAILABLE(
            "the audit log couldn't be written, so no credential was returned",
            "Check the database; the client may try again.");

    private final String meaning;
    private final String advice;

    ReasonMeaning(String meaning, String advice) {
        this.meaning = meaning;
        this.advice = advice;
    }

    /** Sentences that several share; constants of the enum itself come too late for them. */
    private static final class Words {
        static final String CLOCK =
                "Compare the issuer's clock with the broker's; clock_skew of the identity provider"
                        + " allows for a difference.";
        static final String PROVIDER = "The detail below has the provider's message.";

        private Words() {}
    }

    /**
     * The meaning of a reason; empty if the reason explains itself or is unknown to this version.
     */
    static Optional<ReasonMeaning> of(String reason) {
        return Arrays.stream(values()).filter(one -> one.word().equals(reason)).findFirst();
    }

    private String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The meaning as a clause that follows an outcome. */
    String meaning() {
        return meaning;
    }

    /** The advice as sentences in the imperative. */
    String advice() {
        return advice;
    }
}
