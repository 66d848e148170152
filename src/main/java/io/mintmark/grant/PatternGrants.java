package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.token.MatchingBudget;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Grants whose subject is a glob, found by the literal text that the glob begins with: a subject is
 * only held against globs whose beginning it has, however many others there are.
 */
public final class PatternGrants {
    private record Start(IdpName idp, String prefix) {}

    private final Map<Start, List<Grant>> byStart;
    private final int[] prefixLengths;

    private PatternGrants(Map<Start, List<Grant>> byStart, SortedSet<Integer> prefixLengths) {
        this.byStart = byStart;
        this.prefixLengths = prefixLengths.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Indexes the grants; those for an exact subject don't belong here. */
    public static PatternGrants of(List<Grant> grants) {
        Map<Start, List<Grant>> byStart = new HashMap<>();
        SortedSet<Integer> lengths = new TreeSet<>();
        for (Grant grant : grants) {
            String prefix = prefix(grant);
            lengths.add(prefix.length());
            byStart.computeIfAbsent(new Start(grant.idp(), prefix), _ -> new ArrayList<>())
                    .add(grant);
        }
        return new PatternGrants(byStart, lengths);
    }

    private static String prefix(Grant grant) {
        return switch (grant.subject()) {
            case SubjectPattern.Matching(var glob) -> glob.literalPrefix();
            case SubjectPattern.Exact exact ->
                    throw new IllegalArgumentException("grant for one subject: " + exact);
        };
    }

    /**
     * The grants whose pattern matches.
     *
     * @throws io.mintmark.verdict.Unavailable if that is more work than the budget allows
     */
    List<Grant> matching(IdpName idp, String subject, MatchingBudget budget) {
        List<Grant> found = new ArrayList<>();
        for (int length : prefixLengths) {
            if (length > subject.length()) {
                break;
            }
            Start start = new Start(idp, subject.substring(0, length));
            for (Grant grant : byStart.getOrDefault(start, List.of())) {
                budget.spend(grant.subject().steps(subject));
                if (grant.subject().matches(subject)) {
                    found.add(grant);
                }
            }
        }
        return found;
    }
}
