/** The only package that depends on the web server: routes, filters, mapping, JSON. */
@NullMarked
package io.mintmark.http;

import org.jspecify.annotations.NullMarked;
