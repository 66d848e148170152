package io.mintmark.console;

import io.helidon.webserver.http.HttpRouting;

/** What is shown to those who are logged in. */
public interface PageRoutes {

    /**
     * Adds the pages to a routing, to which nothing is added after them. Every request for one has
     * a {@link Viewer} in its context, but for what is below {@code /style}, which is open to all.
     */
    void register(HttpRouting.Builder routing);
}
