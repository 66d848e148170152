/** The HTTP API: routes, filters, the mapping of refusals to responses. */
@NullMarked
package io.mintmark.broker.http;

import org.jspecify.annotations.NullMarked;
