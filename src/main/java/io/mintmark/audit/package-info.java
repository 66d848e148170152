/** What happened: the events of the log, and writing them before a credential is returned. */
@NullMarked
package io.mintmark.audit;

import org.jspecify.annotations.NullMarked;
