package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says to a load balancer whether pages would be shown: whether the database answers. */
final class ConsoleHealth implements Handler {
    static final String PATH = "/health";

    private static final Logger log = LoggerFactory.getLogger(ConsoleHealth.class);
    private static final Viewer NOBODY = new Viewer("health", "{}");

    private final ConsoleAccess access;

    ConsoleHealth(ConsoleAccess access) {
        this.access = access;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        boolean answers;
        try {
            access.has(NOBODY);
            answers = true;
        } catch (ReadingFailed e) {
            log.warn("The database doesn't answer: {}", e.getMessage());
            answers = false;
        }
        response.status(answers ? Status.OK_200 : Status.SERVICE_UNAVAILABLE_503)
                .header(HeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .send(answers ? "ok\n" : "the database doesn't answer\n");
    }
}
