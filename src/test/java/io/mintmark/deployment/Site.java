package io.mintmark.deployment;

import io.mintmark.ReservedPorts;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsStandIn;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * What replicas in processes of their own need around them: the {@link World} without its broker.
 */
final class Site implements AutoCloseable {
    /** Two ports that nothing listens on. */
    record Ports(int open, int admin) {
        static Ports free() {
            return new Ports(ReservedPorts.next(), ReservedPorts.next());
        }

        String url() {
            return "http://localhost:" + open;
        }
    }

    private final TestDatabase database;
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final String url;
    private final StsStandIn sts;

    /**
     * A migrated database with the usual tenant.
     *
     * @param url what clients and providers call the broker
     */
    Site(String url) {
        this(url, TestDatabase.migrated());
    }

    /**
     * The usual tenant.
     *
     * @param database which has a schema
     */
    Site(String url, TestDatabase database) {
        this.database = database;
        this.url = url;
        this.sts = StsStandIn.aws(url, () -> fetched(url + "/.well-known/jwks.json"));
        database.admin(World.tenant(issuer.url(), sts.endpoint()));
    }

    private static String fetched(String url) {
        try (InputStream in = URI.create(url).toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a replica of it is given: it serves, and has no login that could migrate. */
    Map<String, String> environment(Ports ports) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, ports.open()));
        environment.keySet().removeIf(name -> name.startsWith("DATABASE_OWNER"));
        environment.put("DATABASE_MIGRATE", "false");
        environment.put("ADMIN_PORT", Integer.toString(ports.admin()));
        environment.put("BROKER_URL", url);
        return environment;
    }

    TestDatabase database() {
        return database;
    }

    /** A good token of the tenant's subject. */
    String token() {
        return issuer.sign(World.SUBJECT, World.AUDIENCE);
    }

    @Override
    public void close() {
        sts.close();
        issuer.close();
        database.close();
    }
}
