/**
 * What every request has: an id, a client and its limit, the matched route, a log line and a span.
 */
@NullMarked
package io.mintmark.base.http.request;

import org.jspecify.annotations.NullMarked;
