package io.mintmark.logging;

import java.util.ArrayList;
import java.util.List;

/**
 * What was thrown and its causes, as text of at most 4 KiB. Each of them has an equal share, since
 * the first cause is the one to read and stands last.
 */
final class StackText {
    /** In characters. */
    static final int LONGEST = 4096;

    private static final int MOST_CAUSES = 8;
    private static final String CAUSED_BY = "Caused by: ";

    private StackText() {}

    static String of(Throwable thrown) {
        List<Throwable> chain = chain(thrown);
        int share = LONGEST / chain.size();
        StringBuilder text = new StringBuilder();
        for (Throwable one : chain) {
            text.append(of(one, text.isEmpty() ? "" : CAUSED_BY, share));
        }
        return text.toString().strip();
    }

    private static List<Throwable> chain(Throwable thrown) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable one = thrown;
                one != null && chain.size() < MOST_CAUSES;
                one = one.getCause()) {
            chain.add(one);
        }
        return chain;
    }

    /** Its message and as many lines of its stack as fit. */
    private static String of(Throwable thrown, String start, int share) {
        StackTraceElement[] stack = thrown.getStackTrace();
        String more = "\t... %d more\n".formatted(stack.length);
        String head = start + thrown;
        int end = Math.min(head.length(), share - more.length() - 1);
        StringBuilder text = new StringBuilder(head.substring(0, end)).append('\n');
        for (int i = 0; i < stack.length; i++) {
            String line = "\tat " + stack[i] + "\n";
            if (text.length() + line.length() + more.length() > share) {
                return text.append("\t... %d more\n".formatted(stack.length - i)).toString();
            }
            text.append(line);
        }
        return text.toString();
    }
}
