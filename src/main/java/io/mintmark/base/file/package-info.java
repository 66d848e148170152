/** Files that the broker reads again while it serves, and which of them it currently rejects. */
@NullMarked
package io.mintmark.base.file;

import org.jspecify.annotations.NullMarked;
