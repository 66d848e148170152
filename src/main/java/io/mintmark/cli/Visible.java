package io.mintmark.cli;

/** Text from outside that can't move the cursor or turn the direction of what is read. */
final class Visible {
    private Visible() {}

    static String of(String text) {
        return text.replaceAll("\\p{Cntrl}|\\p{Cf}|[\\x80-\\x9f]", "\uFFFD");
    }
}
