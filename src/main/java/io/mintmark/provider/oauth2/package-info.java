/** Type oauth2: access tokens of authorization servers with token exchange (RFC 8693). */
@NullMarked
package io.mintmark.provider.oauth2;

import org.jspecify.annotations.NullMarked;
