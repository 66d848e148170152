package io.mintmark.provider.gcp;

import io.mintmark.provider.Orders;

/** Mint orders for Google Cloud, as tests want them. JSON is written with single quotes. */
public final class GoogleOrders {
    public static final String DEPLOY = "'service_account':'" + GoogleStandIn.ACCOUNT + "'";

    private GoogleOrders() {}

    /** With both services at one place. */
    public static Orders at(String endpoint, String keySettings) {
        return at(endpoint, endpoint, keySettings);
    }

    /**
     * With the services at places of their own.
     *
     * @param keySettings the members of the object
     */
    public static Orders at(String sts, String iam, String keySettings) {
        return Orders.of("gcp", provider(sts, iam), "{" + keySettings + "}");
    }

    static String provider(String sts, String iam) {
        return "{'project_id':'acme-prod','workload_identity_provider':'%s','sts_endpoint':'%s','iam_endpoint':'%s'}"
                .formatted(GoogleStandIn.PROVIDER, sts, iam);
    }
}
