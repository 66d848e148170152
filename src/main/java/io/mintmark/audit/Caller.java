package io.mintmark.audit;

import java.net.InetAddress;
import java.util.Optional;

/**
 * Who asked, as far as the connection tells.
 *
 * @param requestId the correlation id that the answer carries too
 * @param address the client's, not a trusted proxy's
 * @param userAgent as the client sent it
 */
public record Caller(String requestId, InetAddress address, Optional<String> userAgent) {}
