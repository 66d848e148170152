package io.mintmark.base.outbound;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Asks the operating system, or a test, for the addresses of a name. May take its time. */
interface NameLookup {

    /** Looks up the addresses of a host; at least one. */
    InetAddress[] addresses(String host) throws UnknownHostException;
}
