package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotCalled.Why;
import io.mintmark.provider.azure.EntraStandIn;
import io.mintmark.provider.gcp.GoogleOrders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** No type of access provider sends a byte once the decision behind the order was overtaken. */
class OutdatedDecisionTest {
    private static final String TARGET = "arn:aws:iam::123456789012:role/deploy";
    private static final NotCalled OVERTAKEN = new NotCalled(Why.DECISION_CHANGED, "for the test");

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    private final AtomicInteger requests = new AtomicInteger();
    @AutoClose private RawServer server;

    /** Every way to a credential. */
    enum Way {
        AWS_WEB_IDENTITY,
        AWS_AMBIENT,
        S3,
        GOOGLE,
        AZURE,
        OAUTH2,
        JWT
    }

    @BeforeEach
    void listen() throws IOException {
        server = RawServer.serving(this::serve);
    }

    /** Asks every client to come again, which all of them do. */
    private void serve(Socket client) throws IOException {
        InputStream in = new BufferedInputStream(client.getInputStream());
        while (!RawServer.request(in).isEmpty()) {
            requests.incrementAndGet();
            client.getOutputStream()
                    .write(
                            "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
        }
    }

    @ParameterizedTest
    @EnumSource
    void overtaken_before_the_call_it_makes_no_connection(Way way) {
        assertEquals(OVERTAKEN, mint(way, 0));
        assertEquals(0, server.connections());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "JWT")
    void overtaken_while_it_connects_it_sends_nothing(Way way) {
        assertEquals(OVERTAKEN, mint(way, 1));
        Eventually.holds(() -> server.connections() == 1);
        assertEquals(0, requests.get());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "JWT")
    void overtaken_before_it_is_asked_to_come_again_it_does_not(Way way) {
        assertEquals(OVERTAKEN, mint(way, 2));
        assertEquals(1, requests.get());
    }

    /** With a decision that is outdated after so many looks. */
    private MintResult mint(Way way, int looks) {
        var left = new AtomicInteger(looks);
        return broker.mint(
                order(way)
                        .deciding(() -> {
                            if (left.getAndDecrement() == 0) {
                                throw new OutdatedDecision(OVERTAKEN.why(), OVERTAKEN.detail());
                            }
                        }));
    }

    private Orders order(Way way) {
        String origin = server.origin();
        return switch (way) {
            case AWS_WEB_IDENTITY -> aws(origin, "");
            case AWS_AMBIENT -> aws(origin, ",'auth':'ambient'").sharing().allowing(TARGET);
            case S3 ->
                    Orders.of(
                            "s3-sts",
                            "{'endpoint':'%s','policy_claim':{'name':'policy','value':'r'}}"
                                    .formatted(origin),
                            "{}");
            case GOOGLE -> GoogleOrders.at(origin, GoogleOrders.DEPLOY);
            case AZURE ->
                    Orders.of(
                            "azure",
                            "{'tenant_id':'%s','authority':'%s'}"
                                    .formatted(EntraStandIn.DIRECTORY, origin),
                            "{'client_id':'%s','scope':'https://management.azure.com/.default'}"
                                    .formatted(EntraStandIn.APPLICATION));
            case OAUTH2 ->
                    Orders.of("oauth2", "{'token_endpoint':'%s/token'}".formatted(origin), "{}");
            case JWT -> Orders.of("jwt", "{}", "{'audience':'https://api.example'}");
        };
    }

    private static Orders aws(String origin, String more) {
        return Orders.of(
                "aws-sts",
                "{'region':'eu-central-1','endpoint':'%s'%s}".formatted(origin, more),
                "{'role_arn':'%s'}".formatted(TARGET));
    }
}
