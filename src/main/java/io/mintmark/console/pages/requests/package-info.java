/** Requests for access: what waits for the viewer, and what the viewer asked. */
@NullMarked
package io.mintmark.console.pages.requests;

import org.jspecify.annotations.NullMarked;
