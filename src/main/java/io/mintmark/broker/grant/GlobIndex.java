package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.token.MatchingBudget;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Rules indexed by the literal prefix of their subject, which for an exact subject is all of it: a
 * subject is only matched against rules with a matching prefix, however many others exist.
 */
public final class GlobIndex<R extends SubjectRule> {
    private record Start(Optional<IdpName> idp, String prefix) {}

    private final Map<Start, List<R>> byStart;
    private final int[] prefixLengths;

    private GlobIndex(Map<Start, List<R>> byStart, SortedSet<Integer> prefixLengths) {
        this.byStart = byStart;
        this.prefixLengths = prefixLengths.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Indexes the rules. */
    public static <R extends SubjectRule> GlobIndex<R> of(List<R> rules) {
        Map<Start, List<R>> byStart = new HashMap<>();
        SortedSet<Integer> lengths = new TreeSet<>();
        for (R rule : rules) {
            String prefix = prefix(rule);
            lengths.add(prefix.length());
            byStart.computeIfAbsent(new Start(rule.from(), prefix), _ -> new ArrayList<>())
                    .add(rule);
        }
        return new GlobIndex<>(byStart, lengths);
    }

    private static String prefix(SubjectRule rule) {
        return switch (rule.subject()) {
            case SubjectPattern.Matching(var glob) -> glob.literalPrefix();
            case SubjectPattern.Exact(String subject) -> subject;
        };
    }

    /**
     * The rules whose pattern matches.
     *
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    public List<R> matching(IdpName idp, String subject, MatchingBudget budget) {
        return matching(idp, subject, _ -> true, budget);
    }

    /**
     * The rules that count and whose pattern matches; others cost nothing.
     *
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    public List<R> matching(
            IdpName idp, String subject, Predicate<R> counts, MatchingBudget budget) {
        List<R> found = new ArrayList<>();
        for (int length : prefixLengths) {
            if (length > subject.length()) {
                break;
            }
            String prefix = subject.substring(0, length);
            for (Optional<IdpName> of : List.of(Optional.of(idp), Optional.<IdpName>empty())) {
                byStart.getOrDefault(new Start(of, prefix), List.of()).stream()
                        .filter(counts)
                        .filter(rule -> matches(rule, subject, budget))
                        .forEach(found::add);
            }
        }
        return found;
    }

    private static boolean matches(SubjectRule rule, String subject, MatchingBudget budget) {
        budget.spend(rule.subject().steps(subject));
        return rule.subject().matches(subject);
    }
}
