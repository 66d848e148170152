/** The page at {@code /mints/{id}}: all that is on record about a mint or a refusal. */
@NullMarked
package io.mintmark.console.pages.mint;

import org.jspecify.annotations.NullMarked;
