/** Type ssh: OpenSSH user certificates. */
@NullMarked
package io.mintmark.provider.ssh;

import org.jspecify.annotations.NullMarked;
