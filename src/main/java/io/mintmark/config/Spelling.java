package io.mintmark.config;

/** How far apart two spellings are. */
final class Spelling {
    private Spelling() {}

    /** The least number of letters to add, remove or change (Levenshtein). */
    static int distance(String one, String other) {
        int[] above = new int[other.length() + 1];
        for (int column = 0; column < above.length; column++) {
            above[column] = column;
        }
        for (int row = 1; row <= one.length(); row++) {
            above = next(above, row, one.charAt(row - 1), other);
        }
        return above[other.length()];
    }

    private static int[] next(int[] above, int row, char letter, String other) {
        int[] line = new int[above.length];
        line[0] = row;
        for (int column = 1; column < line.length; column++) {
            int changed = above[column - 1] + (other.charAt(column - 1) == letter ? 0 : 1);
            line[column] = Math.min(changed, 1 + Math.min(above[column], line[column - 1]));
        }
        return line;
    }
}
