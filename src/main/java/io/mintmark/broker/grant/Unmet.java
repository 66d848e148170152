package io.mintmark.broker.grant;

/** Why a grant doesn't allow a request. */
public enum Unmet {
    /** The subject or the actor is blocked. */
    NOT_BLOCKED,
    /** The grant doesn't match the subject. */
    SUBJECT,
    /** The grant is for another actor, or for none, or for an actor where there is none. */
    ACTOR,
    /** The claims of the subject or the actor don't meet the grant's conditions. */
    CLAIMS,
    /** The request came from a network that isn't one of the grant's. */
    NETWORKS,
    /** The grant isn't in force at this time. */
    TIME
}
