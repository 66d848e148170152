/** Type ssh: OpenSSH user certificates. */
@NullMarked
package io.mintmark.mint.ssh;

import org.jspecify.annotations.NullMarked;
