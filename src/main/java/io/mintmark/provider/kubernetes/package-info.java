/** Type kubernetes: tokens of service accounts, by the TokenRequest API. */
@NullMarked
package io.mintmark.provider.kubernetes;

import org.jspecify.annotations.NullMarked;
