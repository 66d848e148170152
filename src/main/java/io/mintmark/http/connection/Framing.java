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
 * {@code Content-Length}, of digits, or one {@code Transfer-Encoding}, which is {@code chunked},
 * and never both. If a proxy in front read anything else differently from the server, a client
 * could slip in requests in others' names.
 */
final class Framing implements Http1ConnectionListener {
    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");
    private static final String CHUNKED = "chunked";

    private final ConnectionDeadlines deadlines;

    Framing(ConnectionDeadlines deadlines) {
        this.deadlines = deadlines;
    }

    @Override
    public void prologue(ConnectionContext context, HttpPrologue line) {
        GuardedContext.conversation(context).lineIsRead(line);
    }

    @Override
    public void headers(ConnectionContext context, Headers headers) {
        Conversation conversation = GuardedContext.conversation(context);
        conversation.headersAreRead(headers);
        requireNames(conversation, headers);
        conversation.bodyBegins(body(conversation, headers), ConnectionHeader.saysClose(headers));
        deadlines.requested(conversation);
    }

    /** The server checks that a name is a token, and forgets that a token isn't empty. */
    private static void requireNames(Conversation conversation, Headers headers) {
        if (headers.stream().anyMatch(header -> header.name().isEmpty())) {
            throw BadFraming.in(conversation.request(), "a header without a name");
        }
    }

    private static RequestBody body(Conversation conversation, Headers headers) {
        List<String> lengths = headers.all(HeaderNames.CONTENT_LENGTH, List::of);
        List<String> encodings = headers.all(HeaderNames.TRANSFER_ENCODING, List::of);
        if (encodings.isEmpty() && lengths.isEmpty()) {
            return RequestBody.none();
        }
        if (encodings.isEmpty() && lengths.size() == 1 && isLength(lengths.getFirst())) {
            return RequestBody.ofLength(
                    Long.parseLong(lengths.getFirst()), !headers.contains(HeaderNames.EXPECT));
        }
        if (lengths.isEmpty() && encodings.equals(List.of(CHUNKED))) {
            return RequestBody.ofChunks();
        }
        throw BadFraming.in(conversation.request(), "no unambiguous length");
    }

    private static boolean isLength(String value) {
        return LENGTH.matcher(value).matches();
    }
}
