package io.mintmark.base.verdict;

/** Why a request was refused. One record for each reason, with the fields that the answer shows. */
public sealed interface Refusal
        permits RequestRefusal, TokenRefusal, AccessRefusal, LimitRefusal, MintRefusal {}
