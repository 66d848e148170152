package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reports to the platform whether the console must be restarted: whether a thread of it died. */
final class ConsoleLiveness implements Handler {
    static final String PATH = "/health/live";

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        String dead =
                Stream.of(ThreadName.values())
                        .filter(name -> BackgroundThread.deaths(name) > 0)
                        .map(name -> "the thread '%s' died\n".formatted(name))
                        .collect(Collectors.joining());
        response.status(dead.isEmpty() ? Status.OK_200 : Status.SERVICE_UNAVAILABLE_503)
                .header(HeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .send(dead.isEmpty() ? "ok\n" : dead);
    }
}
