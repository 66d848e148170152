/** The only room that knows the web server: routes, filters, mapping, JSON. */
@NullMarked
package io.mintmark.http;

import org.jspecify.annotations.NullMarked;
