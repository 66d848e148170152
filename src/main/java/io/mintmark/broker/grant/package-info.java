/** The catalogue: who may have which key. */
@NullMarked
package io.mintmark.broker.grant;

import org.jspecify.annotations.NullMarked;
