package io.mintmark.base.outbound;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Asks the operating system, or a test, for the addresses of a name. May take its time. */
interface NameLookup {

    /** At least one address. */
    InetAddress[] addresses(String host) throws UnknownHostException;
}
