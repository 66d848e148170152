package io.mintmark.console.pages;

/**
 * What a page shows.
 *
 * @param status of HTTP
 * @param template its name, without the ending
 * @param model what the template's parameter {@code page} is
 */
record View(int status, String title, String template, Object model) {
    private static final String MESSAGE = "message";

    static View of(String title, String template, Object model) {
        return new View(200, title, template, model);
    }

    /** The same whether there is none or it isn't the viewer's to see. */
    static View absent(String what) {
        return absent(what, Suggestions.NONE);
    }

    /**
     * The same.
     *
     * @param others similar names that the viewer sees
     */
    static View absent(String what, Suggestions others) {
        return new View(
                404,
                "Not found",
                MESSAGE,
                new Message(
                        "There is no %s that you may see.".formatted(what),
                        "If a colleague sent you the link, they may have more access than you: see "
                                + "broker.console_access.",
                        others));
    }

    /** What isn't one tenant's. */
    static View onlyForAll() {
        return message(
                403,
                "Not for you",
                "The proof covers the whole log, so it needs access to all tenants.",
                "Ask an auditor, or verify an export: mintmark audit verify --export.");
    }

    /** No page has this address, for any viewer. */
    static View nowhere() {
        return message(
                404,
                "Not found",
                "No page has this URL.",
                "Check the URL, or search for an id, a subject or a key above.");
    }

    /**
     * A missing key of a tenant that the viewer sees.
     *
     * @param others the existing keys
     */
    static View absentKey(String tenant, String key, String others) {
        return message(
                404,
                "Not found",
                "Tenant %s has no key %s, and the log never had one.".formatted(tenant, key),
                others);
    }

    private static View message(int status, String title, String sentence, String advice) {
        return new View(status, title, MESSAGE, new Message(sentence, advice, Suggestions.NONE));
    }

    /** Another page has what was asked for. */
    static View elsewhere(String address) {
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
