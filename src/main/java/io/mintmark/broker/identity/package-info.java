/** The broker's own identity towards access providers. */
@NullMarked
package io.mintmark.broker.identity;

import org.jspecify.annotations.NullMarked;
