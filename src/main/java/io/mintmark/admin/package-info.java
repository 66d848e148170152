/**
 * The command line and the commands of operators and admins, such as {@code check} and {@code
 * block-subject}. May use all other parts, and no other part may use it. Begin at {@link
 * io.mintmark.admin.cli.Commands}.
 */
@NullMarked
package io.mintmark.admin;

import org.jspecify.annotations.NullMarked;
