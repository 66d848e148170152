/** The only parser of untrusted JSON, for all packages. */
@NullMarked
package io.mintmark.json;

import org.jspecify.annotations.NullMarked;
