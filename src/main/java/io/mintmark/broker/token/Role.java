package io.mintmark.broker.token;

import java.util.Locale;

/** A role in which tokens of an identity provider are accepted: {@code accepts} of its row. */
public enum Role {
    /** The party that gets the credentials. */
    SUBJECT,
    /** The party that acts for the subject. */
    ACTOR,
    /** A party that may only request access and decide requests. */
    APPROVER;

    /** The value in the column {@code accepts}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The role of a word.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Role of(String word) {
        for (Role role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        throw new IllegalArgumentException("role '%s' is unknown".formatted(word));
    }
}
