/** Type jwt: access tokens of the broker's own. */
@NullMarked
package io.mintmark.provider.jwt;

import org.jspecify.annotations.NullMarked;
