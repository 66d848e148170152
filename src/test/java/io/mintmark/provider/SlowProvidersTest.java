package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.gcp.GoogleAnswer;
import io.mintmark.provider.gcp.GoogleAnswer.Hanging;
import io.mintmark.provider.gcp.GoogleOrders;
import io.mintmark.provider.gcp.GoogleStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** Tenants whose providers hang, and others that mint meanwhile. */
class SlowProvidersTest {
    private static final Duration LONG = Duration.ofSeconds(50);
    private static final int OF_A_PROVIDER = TenantBulkhead.ofProvider(Orders.MAX_CALLS);

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private final StsStandIn aws = broker.aws();

    @AutoClose
    private final GoogleStandIn google =
            broker.google().binding("tenant:acme:key:deploy", GoogleStandIn.ACCOUNT);

    @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private final List<Future<MintResult>> begun = new ArrayList<>();

    @Test
    void tenants_whose_calls_of_an_sts_hang_leave_the_same_sts_to_others() {
        int tenants = 5;
        int hanging = tenants * OF_A_PROVIDER;
        aws.next(Collections.nCopies(hanging, new StsAnswer.Hanging()).toArray(StsAnswer[]::new));
        for (int i = 0; i < tenants; i++) {
            begin(OF_A_PROVIDER, atAws().of("slow-" + i, "cloud"));
        }
        hang(aws::calls, hanging);

        assertInstanceOf(Minted.class, broker.mint(atAws()));
    }

    @Test
    void a_provider_that_hangs_is_not_sent_more_than_its_bound() {
        google.next(Collections.nCopies(OF_A_PROVIDER, new Hanging()).toArray(GoogleAnswer[]::new));
        begin(OF_A_PROVIDER + 8, atGoogle(LONG).of("slow", "google"));
        Eventually.holds(() -> google.calls().size() == OF_A_PROVIDER);

        MintResult next = broker.mint(atGoogle(Duration.ofSeconds(1)).of("slow", "google"));

        assertEquals(
                new NotCalled(
                        NotCalled.Why.TENANT_BUSY,
                        "the tenant has reached its limit of 30 concurrent calls to access provider 'google' (a share of max_calls)"),
                next);
        assertEquals(OF_A_PROVIDER, google.calls().size());
        assertInstanceOf(Minted.class, broker.mint(atGoogle(LONG)));
        assertInstanceOf(Minted.class, broker.mint(atAws().of("slow", "aws")));
    }

    @Test
    void tokens_of_the_brokers_own_need_no_room() {
        int all = Orders.MAX_CALLS;
        aws.next(Collections.nCopies(all, new StsAnswer.Hanging()).toArray(StsAnswer[]::new));
        for (String provider : List.of("one", "two")) {
            begin(all / 2, atAws().of("slow", provider));
        }
        hang(aws::calls, all);

        Orders own = Orders.of("jwt", "{}", "{'audience':'https://api.example'}");

        assertInstanceOf(Minted.class, broker.mint(own.of("slow", "own")));
    }

    private void begin(int calls, Orders order) {
        for (int i = 0; i < calls; i++) {
            begun.add(threads.submit(() -> broker.mint(order)));
        }
    }

    /** Waits until this many calls have arrived; one that ended instead is shown. */
    private void hang(Supplier<? extends List<?>> arrived, int calls) {
        Eventually.holds(
                Eventually.PATIENCE,
                () -> new Seen(arrived.get().size(), ended()),
                seen -> seen.arrived() == calls);
    }

    private record Seen(int arrived, List<MintResult> ended) {}

    private List<MintResult> ended() {
        return begun.stream().filter(Future::isDone).map(Future::resultNow).toList();
    }

    private Orders atAws() {
        return Orders.of(
                        "aws-sts",
                        "{'region':'eu-central-1','endpoint':'" + aws.endpoint() + "'}",
                        "{'role_arn':'arn:aws:iam::123456789012:role/deploy'}")
                .within(LONG);
    }

    private Orders atGoogle(Duration timeout) {
        return GoogleOrders.at(google.endpoint(), GoogleOrders.DEPLOY).within(timeout);
    }
}
