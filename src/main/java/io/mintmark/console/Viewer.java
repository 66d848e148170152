package io.mintmark.console;

/**
 * A user who views pages.
 *
 * @param name for the log
 * @param claims those of the ID token, as the text of a JSON object: the database decides on them
 *     what is visible
 */
public record Viewer(String name, String claims) {

    @Override
    public String toString() {
        return name;
    }
}
