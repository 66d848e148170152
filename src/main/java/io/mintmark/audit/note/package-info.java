/** Signed notes and the heads of trees in them, as c2sp.org/signed-note and tlog-checkpoint say. */
@NullMarked
package io.mintmark.audit.note;

import org.jspecify.annotations.NullMarked;
