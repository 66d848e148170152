package io.mintmark.auditor.reader;

import io.mintmark.base.tenant.Glob;

import java.util.BitSet;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Whether a string can match two globs. {@code internal.globs_overlap} has the same rule.
 *
 * <p>Reads the one glob part by part, and keeps the places of the other one to which strings that
 * match so far can lead: at most {@value Glob#MAX_LENGTH} places for each part.
 */
final class GlobOverlap {
    private static final Pattern PART = Pattern.compile("\\*+|.", Pattern.DOTALL);

    private final List<String> parts;

    private GlobOverlap(String glob) {
        this.parts = parts(glob);
    }

    /** Whether some string matches both. */
    static boolean exists(Glob one, Glob other) {
        return new GlobOverlap(one.pattern()).canMatch(parts(other.pattern()));
    }

    private static List<String> parts(String glob) {
        return PART.matcher(glob).results().map(MatchResult::group).toList();
    }

    private boolean canMatch(List<String> other) {
        BitSet reached = new BitSet();
        reached.set(0);
        passStars(reached);
        for (String part : other) {
            reached = behind(part, reached);
        }
        return reached.get(parts.size());
    }

    private BitSet behind(String part, BitSet reached) {
        BitSet behind = new BitSet();
        if (isStar(part)) {
            behind.or(reached);
            for (int at = 0; at < parts.size(); at++) {
                if (behind.get(at) && (isDeep(part) || !separates(parts.get(at)))) {
                    behind.set(at + 1);
                }
                passStar(behind, at);
            }
            return behind;
        }
        for (int at = reached.nextSetBit(0); at >= 0; at = reached.nextSetBit(at + 1)) {
            if (at < parts.size()) {
                String own = parts.get(at);
                if (own.equals(part)) {
                    behind.set(at + 1);
                } else if (isStar(own) && (isDeep(own) || !separates(part))) {
                    behind.set(at);
                }
            }
        }
        passStars(behind);
        return behind;
    }

    private void passStars(BitSet places) {
        for (int at = 0; at < parts.size(); at++) {
            passStar(places, at);
        }
    }

    /** A star also matches nothing. */
    private void passStar(BitSet places, int at) {
        if (places.get(at) && isStar(parts.get(at))) {
            places.set(at + 1);
        }
    }

    private static boolean isStar(String part) {
        return part.startsWith("*");
    }

    private static boolean isDeep(String part) {
        return part.startsWith("**");
    }

    private static boolean separates(String part) {
        return part.equals(":") || part.equals("/");
    }
}
