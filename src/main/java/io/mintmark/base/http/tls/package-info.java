/** The certificates of the ports, which are read again when their files change. */
@NullMarked
package io.mintmark.base.http.tls;

import org.jspecify.annotations.NullMarked;
