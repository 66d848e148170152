package io.mintmark.broker.grant;

import io.mintmark.base.tenant.Glob;

/** The subjects of a grant. */
public sealed interface SubjectPattern {

    /** One subject, compared exactly. */
    record Exact(String subject) implements SubjectPattern {}

    /** All subjects that a glob matches. */
    record Matching(Glob glob) implements SubjectPattern {}

    /** At most how many characters {@link #matches} looks at. */
    default long steps(String subject) {
        return switch (this) {
            case Exact exact -> exact.subject().length();
            case Matching(Glob glob) -> glob.steps(subject);
        };
    }

    /** Whether the pattern matches a subject. */
    default boolean matches(String subject) {
        return switch (this) {
            case Exact(String own) -> own.equals(subject);
            case Matching(Glob glob) -> glob.matches(subject);
        };
    }
}
