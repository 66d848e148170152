/** The tables of the audit log: writing, sealing, reading and retiring their rows. */
@NullMarked
package io.mintmark.audit.log;

import org.jspecify.annotations.NullMarked;
