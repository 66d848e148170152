package io.mintmark.console;

/**
 * Whoever looks at a page.
 *
 * @param name for the log
 * @param claims those of the ID token, as the text of a JSON object: what may be seen is decided on
 *     them in the database
 */
public record Viewer(String name, String claims) {

    @Override
    public String toString() {
        return name;
    }
}
