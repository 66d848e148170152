package io.mintmark.base.http.connection;

/**
 * The characters of a URI's parts (RFC 3986 section 3). Each part is read once from left to right;
 * a {@code %} must have two hexadecimal digits after it.
 */
public final class UriCharacters {
    private static final int HEX = 16;
    private static final int ASCII = 0x80;
    private static final String NAME = "-._~!$&'()*+,;=";
    private static final String PATH = NAME + ":@/";
    private static final String QUERY = PATH + "?";

    private UriCharacters() {}

    /** Whether a text is a registered name (section 3.2.2). The empty text is. */
    static boolean isName(String text) {
        return consistsOf(NAME, text);
    }

    /** Whether a text is a path (section 3.3). The empty text is. */
    static boolean isPath(String text) {
        return consistsOf(PATH, text);
    }

    /** Whether a text is a query (section 3.4). The empty text is. */
    public static boolean isQuery(String text) {
        return consistsOf(QUERY, text);
    }

    private static boolean consistsOf(String punctuation, String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '%') {
                if (!isHex(text, i + 1) || !isHex(text, i + 2)) {
                    return false;
                }
                i += 2;
            } else if (!isLetterOrDigit(character) && punctuation.indexOf(character) < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isHex(String text, int at) {
        return at < text.length()
                && text.charAt(at) < ASCII
                && Character.digit(text.charAt(at), HEX) >= 0;
    }

    private static boolean isLetterOrDigit(char character) {
        return character < ASCII && Character.isLetterOrDigit(character);
    }
}
