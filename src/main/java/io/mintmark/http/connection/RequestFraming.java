package io.mintmark.http.connection;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Sees to it that there is no doubt where a request ends (RFC 9112 section 6.3): it has at most one
 * {@code Content-Length}, of digits, and no {@code Transfer-Encoding}. If a proxy in front read
 * anything else differently from the server, a client could slip in requests in others' names.
 */
final class RequestFraming implements Http1ConnectionListener {
    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");

    private final ConnectionDeadlines deadlines;

    RequestFraming(ConnectionDeadlines deadlines) {
        this.deadlines = deadlines;
    }

    @Override
    public void prologue(ConnectionContext context, HttpPrologue line) {
        GuardedContext.state(context).lineIsRead(line);
    }

    @Override
    public void headers(ConnectionContext context, Headers headers) {
        ConnectionState state = GuardedContext.state(context);
        state.headersAreRead(headers);
        requireNames(state, headers);
        state.bodyBegins(body(state, headers), ConnectionHeader.saysClose(headers));
        deadlines.requested(state);
    }

    /** The server checks that a name is a token, and forgets that a token isn't empty. */
    private static void requireNames(ConnectionState state, Headers headers) {
        if (headers.stream().anyMatch(header -> header.name().isEmpty())) {
            throw BadFraming.in(state, "a header without a name");
        }
    }

    private static RequestBody body(ConnectionState state, Headers headers) {
        if (headers.contains(HeaderNames.TRANSFER_ENCODING)) {
            throw BadFraming.withoutLength(state);
        }
        List<String> lengths = headers.all(HeaderNames.CONTENT_LENGTH, List::of);
        if (lengths.isEmpty()) {
            return RequestBody.none();
        }
        if (lengths.size() > 1 || !isLength(lengths.getFirst())) {
            throw BadFraming.in(state, "no unambiguous length");
        }
        return RequestBody.ofLength(Long.parseLong(lengths.getFirst()));
    }

    private static boolean isLength(String value) {
        return LENGTH.matcher(value).matches();
    }
}
