/** The catalogue: who may have which key. */
@NullMarked
package io.mintmark.grant;

import org.jspecify.annotations.NullMarked;
