/** What happened in a tenant in a week, on two printed sheets. */
@NullMarked
package io.mintmark.console.pages.week;

import org.jspecify.annotations.NullMarked;
