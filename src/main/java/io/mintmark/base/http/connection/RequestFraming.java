package io.mintmark.base.http.connection;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;

import java.util.List;

/**
 * Sees to it that there is no doubt where a request ends (RFC 9112 section 6.3): it has at most one
 * {@code Content-Length}, of digits, and no {@code Transfer-Encoding}. If a proxy in front read
 * anything else differently from the server, a client could slip in requests in others' names. For
 * the same reason a request has exactly one valid {@code Host} (section 3.2).
 */
final class RequestFraming implements Http1ConnectionListener {
    /** The maximum length of {@code Content-Length}, in digits. */
    private static final int LONGEST_LENGTH = 18;

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
        requireHost(state, headers);
        state.bodyBegins(body(state, headers), ConnectionHeader.saysClose(headers));
        deadlines.requested(state);
    }

    /**
     * Rejects empty names. The server checks that a name is a token, but not that it isn't empty.
     */
    private static void requireNames(ConnectionState state, Headers headers) {
        if (headers.stream().anyMatch(header -> header.name().isEmpty())) {
            throw BadFraming.in(state, "a header has no name");
        }
    }

    /**
     * The host of a target in absolute form replaces that of the header, which must be valid all
     * the same (sections 3.2 and 3.2.2).
     */
    private static void requireHost(ConnectionState state, Headers headers) {
        List<String> hosts = headers.all(HeaderNames.HOST, List::of);
        if (hosts.size() != 1 || !HostAndPort.isValid(hosts.getFirst())) {
            throw BadFraming.in(state, "the request needs exactly one valid Host header");
        }
        if (headers instanceof WritableHeaders<?> writable) {
            state.authority()
                    .ifPresent(named -> writable.set(HeaderValues.create(HeaderNames.HOST, named)));
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
            throw BadFraming.in(state, "the length of the request is ambiguous");
        }
        return RequestBody.ofLength(Long.parseLong(lengths.getFirst()));
    }

    private static boolean isLength(String value) {
        return !value.isEmpty()
                && value.length() <= LONGEST_LENGTH
                && value.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
