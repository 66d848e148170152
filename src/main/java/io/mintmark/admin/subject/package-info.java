/** The command {@code block-subject}, and what it finds out about credentials in use. */
@NullMarked
package io.mintmark.admin.subject;

import org.jspecify.annotations.NullMarked;
