/** The bytes that rows of the log and of the configuration are hashed as. */
@NullMarked
package io.mintmark.base.canonical;

import org.jspecify.annotations.NullMarked;
