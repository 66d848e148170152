package io.mintmark.console.pages.frame;

/**
 * A page to be rendered.
 *
 * @param status of HTTP
 * @param template its path below {@code src/main/jte}, without the ending
 * @param model what the template's parameter {@code page} is
 */
public record View(int status, String title, String template, Object model) {
    private static final String MESSAGE = "frame/message";

    /**
     * A page that was found.
     *
     * @param template its path below {@code src/main/jte}, without the ending
     * @param model what the template's parameter {@code page} is
     */
    public static View of(String title, String template, Object model) {
        return new View(200, title, template, model);
    }

    /**
     * A page for something that doesn't exist or that the viewer may not see, with the same answer
     * in both cases.
     */
    public static View absent(String what) {
        return absent(what, Suggestions.NONE);
    }

    /**
     * Names similar ones of something that is absent.
     *
     * @param others similar names that the viewer sees
     */
    public static View absent(String what, Suggestions others) {
        return new View(
                404,
                "Not found",
                MESSAGE,
                new Message(
                        "There is no %s that you may see.".formatted(what),
                        "If a colleague sent you the link, they may see more tenants than you. Ask a"
                                + " platform admin for access.",
                        others));
    }

    /** A page for a URL that no page has, for any viewer. */
    public static View nowhere() {
        return message(
                404,
                "Not found",
                "No page has this URL.",
                "Check the URL, or search for an id, a subject or a key above.");
    }

    /**
     * A page that has only a sentence, and what to do about it.
     *
     * @param status of HTTP
     */
    public static View message(int status, String title, String sentence, String advice) {
        return new View(status, title, MESSAGE, new Message(sentence, advice, Suggestions.NONE));
    }

    /** A redirect to the page that has what was requested. */
    public static View elsewhere(String address) {
        return new View(303, "", "", new Elsewhere(address));
    }

    static View wrong(String sentence, String advice) {
        return message(400, "Error", sentence, advice);
    }

    /** The address of another page. */
    record Elsewhere(String address) {}

    /** A sentence, what to do about it, and what may have been meant. */
    record Message(String sentence, String advice, Suggestions suggestions) {}
}
