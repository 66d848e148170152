package io.mintmark.mint.azure;

/**
 * The clouds that Entra runs in, each with accounts of its own. Their hosts: learn.microsoft.com,
 * "National clouds"; the audience that each wants for federated credentials: "Configure an
 * application to trust a managed identity".
 */
enum EntraCloud {
    /** The world, and what an operator put in its place. */
    GLOBAL("api://AzureADTokenExchange"),
    US_GOVERNMENT("api://AzureADTokenExchangeUSGov"),
    CHINA("api://AzureADTokenExchangeChina");

    private final String audience;

    EntraCloud(String audience) {
        this.audience = audience;
    }

    /** The cloud at a host in lower case. */
    static EntraCloud at(String host) {
        return switch (host) {
            case "login.microsoftonline.us" -> US_GOVERNMENT;
            case "login.partner.microsoftonline.cn", "login.chinacloudapi.cn" -> CHINA;
            default -> GLOBAL;
        };
    }

    /** What the broker's token must have as audience. */
    String audience() {
        return audience;
    }
}
