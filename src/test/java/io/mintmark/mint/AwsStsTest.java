package io.mintmark.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.mintmark.identity.BuiltInIdentity;
import io.mintmark.identity.KeyDirectory;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.awssts.AwsSts;
import io.mintmark.mint.sts.StsCaller;
import io.mintmark.mint.sts.StsClients;
import io.mintmark.outbound.Destinations;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;

class AwsStsTest {
    private static final String ISSUER = "https://broker.example";
    private static final InstantSource CLOCK = InstantSource.system();

    @TempDir Path keys;

    @Test
    void a_role_is_assumed_with_the_brokers_token() {
        var identity =
                new BuiltInIdentity(
                        ISSUER, new KeyDirectory(keys).withP256("2026-01-01").path(), CLOCK);
        var allowed = new Destinations(List.of("127.0.0.1"));
        try (var sts = StsStandIn.aws(ISSUER, identity::keySet);
                var clients = StsClients.within(allowed)) {
            var type =
                    new AwsSts(
                            identity,
                            new TokenDestinations(allowed),
                            new StsCaller(clients, CLOCK));
            var result =
                    type.mint(
                            Orders.of(
                                            "aws-sts",
                                            "{'region':'eu-central-1','endpoint':'"
                                                    + sts.endpoint()
                                                    + "'}",
                                            "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}")
                                    .order());
            Minted minted = assertInstanceOf(Minted.class, result, () -> result.toString());
            assertEquals("ASIASTANDIN000000001", minted.credentialId());
        }
    }
}
