package io.mintmark.config;

import java.util.List;

/**
 * Non-public destinations that the broker may connect to.
 *
 * @param allowedHosts names, addresses and networks
 */
public record OutboundSettings(AllowedHosts allowedHosts) {
    static final Setting<List<String>> ALLOWED_HOSTS =
            Setting.of(
                    "outbound.allowed-hosts",
                    AllowedHosts.ENTRY.list(),
                    "Hosts, IP addresses and networks that aren't public, but that the "
                            + "broker may connect to.");

    static final List<Setting<?>> TABLE = List.of(ALLOWED_HOSTS);

    static OutboundSettings from(Values values) {
        return new OutboundSettings(
                values.find(ALLOWED_HOSTS).map(AllowedHosts::of).orElse(AllowedHosts.NONE));
    }
}
