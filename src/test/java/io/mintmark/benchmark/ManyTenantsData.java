package io.mintmark.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;

/** Tenants in great number, each with a hundred grants. */
final class ManyTenantsData {
    private static final int CHUNK = 250;

    private ManyTenantsData() {}

    static void load(Bench bench, int tenants) throws IOException, SQLException {
        String sql = Files.readString(Path.of("src/test/resources/scale/tenants.sql"));
        for (int from = 1; from <= tenants; from += CHUNK) {
            bench.database()
                    .run(
                            bench.name(),
                            sql.replace("{from}", Integer.toString(from))
                                    .replace(
                                            "{to}",
                                            Integer.toString(Math.min(tenants, from + CHUNK - 1)))
                                    .replace("{issuer}", bench.issuer()));
        }
        bench.database().run(bench.name(), "ANALYZE");
    }

    /** A request of a subject of one of them. */
    static byte[] mint(Bench bench, int tenant) {
        String subject = "repo:t%d/app50:ref:refs/heads/main".formatted(tenant);
        return Bench.mint(bench.tokenFor(subject, "mintmark-t" + tenant), "key1");
    }
}
