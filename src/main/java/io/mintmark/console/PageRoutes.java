package io.mintmark.console;

import io.helidon.webserver.http.HttpRouting;

import java.util.Set;

/** The pages of logged-in users. */
public interface PageRoutes {

    /**
     * The paths of all pages. A login returns only to a path whose first segment one of them has.
     */
    Set<String> paths();

    /** The paths of files to download, each below the path of its page. */
    Set<String> files();

    /**
     * Adds the pages to a routing, to which nothing is added after them. Every request for one has
     * a {@link Viewer} in its context, but for what is below {@code /style}, which is open to all.
     */
    void register(HttpRouting.Builder routing);
}
