package io.mintmark.broker.token;

import java.util.Locale;

/** What the tokens of an identity provider may identify: {@code accepts} of its row. */
public enum Role {
    /** Who gets credentials. */
    SUBJECT,
    /** Who acts for the subject. */
    ACTOR,
    /** Who may only request and decide approvals. */
    APPROVER;

    /** As the column has it. */
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
