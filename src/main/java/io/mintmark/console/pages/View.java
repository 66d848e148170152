package io.mintmark.console.pages;

/**
 * What a page shows.
 *
 * @param status of HTTP
 * @param template its name, without the ending
 * @param model what the template's parameter {@code page} is
 */
record View(int status, String title, String template, Object model) {
    static View of(String title, String template, Object model) {
        return new View(200, title, template, model);
    }

    /** The same whether there is none or it isn't the viewer's to see. */
    static View absent(String what) {
        return new View(
                404,
                "Not found",
                "message",
                new Message(
                        "There is no %s that you may see.".formatted(what),
                        "If you followed a colleague's link, they may see more than you do:"
                                + " broker.console_access says who sees what."));
    }

    static View wrong(String sentence, String advice) {
        return new View(400, "That can't be answered", "message", new Message(sentence, advice));
    }

    /** A sentence, and what to do about it. */
    record Message(String sentence, String advice) {}
}
