package io.mintmark.keycloak;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsStandIn;

import java.util.HashMap;
import java.util.Map;

/**
 * A broker whose identity comes from a realm, and its tenant's key {@code files} for a storage that
 * trusts that realm.
 */
final class StorageBroker implements AutoCloseable {
    private final World world;

    /**
     * @param settings besides {@code BROKER_IDP_TYPE}; every client has its name and -secret as
     *     secret, unless they say how else it proves itself
     */
    StorageBroker(StsStandIn storage, String client, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("BROKER_IDP_TYPE", "client-credentials");
        all.put("BROKER_IDP_CLIENT_ID", client);
        if (!"private_key_jwt".equals(settings.get("BROKER_IDP_CLIENT_AUTH"))) {
            all.put("BROKER_IDP_CLIENT_SECRET", client + "-secret");
        }
        world = new World(all);
        world.admin(
                """
                INSERT INTO broker.access_provider
                       (tenant, name, type, settings, shared_identity, allowed_targets)
                VALUES ('acme', 'storage', 's3-sts', '{"endpoint": "%s"}', true,
                        '{arn:minio:iam:::role/acme-*}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'files', 'storage', 3600,
                        '{"role_arn": "arn:minio:iam:::role/acme-files"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'files');
                """
                        .formatted(storage.endpoint()));
    }

    RunningBroker running() {
        return world.broker();
    }

    Answer mint() {
        return world.broker().mint(world.token(), "files");
    }

    /** What the health report says of the broker's identity. */
    String health() {
        return world.broker().get("/health").at("/checks/broker_idp");
    }

    /** Why the last mint failed, as the audit log has it. */
    String detail() {
        return world.value(
                "SELECT detail FROM audit.event WHERE kind = 'failed'"
                        + " ORDER BY mint_id DESC LIMIT 1");
    }

    @Override
    public void close() {
        world.close();
    }
}
