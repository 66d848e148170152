package io.mintmark.base.http.request;

import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ErrorHandler;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

/**
 * Answers what a later filter throws. The server handles what routes throw before the filters
 * return, but what filters throw only outside of all filters: those before this one would report
 * that the client had left, and the log line of the failure would have no request id.
 */
public final class FilterFailures implements Filter {
    private final ErrorHandler<Throwable> failures;

    /**
     * @param failures also the handler of what routes throw
     */
    public FilterFailures(ErrorHandler<Throwable> failures) {
        this.failures = failures;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        try {
            chain.proceed();
        } catch (CloseConnectionException | RequestException e) {
            throw e; // the connection's end, and the port's own answer
        } catch (RuntimeException e) {
            if (response.isSent() || !response.resetStream()) {
                throw e; // the server ends the connection
            }
            failures.handle(request, response, e);
        }
    }
}
