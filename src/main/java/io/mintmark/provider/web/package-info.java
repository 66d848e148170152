/** Code that the types with plain HTTP share: calls, retries, reading errors. */
@NullMarked
package io.mintmark.provider.web;

import org.jspecify.annotations.NullMarked;
