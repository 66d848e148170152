/** Inbound tokens: verifying them, and their issuers' signing keys. */
@NullMarked
package io.mintmark.broker.token;

import org.jspecify.annotations.NullMarked;
