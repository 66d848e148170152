package io.mintmark.console.pages.frame;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names as people sort them: numbers in them by their value, so that key-9 precedes key-10. */
public final class NaturalOrder implements Comparator<String> {
    public static final NaturalOrder NAMES = new NaturalOrder();

    private static final Pattern PART = Pattern.compile("[0-9]++|[^0-9]++");

    private NaturalOrder() {}

    @Override
    public int compare(String one, String other) {
        Matcher ones = PART.matcher(one);
        Matcher others = PART.matcher(other);
        while (ones.find()) {
            if (!others.find()) {
                return 1;
            }
            int difference = difference(ones.group(), others.group());
            if (difference != 0) {
                return difference;
            }
        }
        return others.find() ? -1 : one.compareTo(other);
    }

    private static int difference(String one, String other) {
        return isNumber(one) && isNumber(other)
                ? new BigInteger(one).compareTo(new BigInteger(other))
                : one.compareTo(other);
    }

    private static boolean isNumber(String part) {
        return Character.isDigit(part.charAt(0));
    }
}
