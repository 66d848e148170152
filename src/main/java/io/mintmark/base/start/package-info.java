/** What every program does when it starts: certificates, ports, the wait for the database. */
@NullMarked
package io.mintmark.base.start;

import org.jspecify.annotations.NullMarked;
