package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.sts.DoubleTalkingSts.Habit;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who is served by which connection, when the provider says more than it was asked. */
class StsConnectionsTest {
    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @ParameterizedTest
    @EnumSource(Habit.class)
    void a_tenant_gets_no_answer_to_anothers_request(Habit habit) throws Exception {
        try (DoubleTalkingSts sts = new DoubleTalkingSts(habit)) {
            assertEquals("key-of-acme-deploy", accessKey("acme", sts));
            letItTalk(habit, sts);

            assertEquals("key-of-globex-deploy", accessKey("globex", sts));
            assertEquals(2, sts.connections());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Habit.class,
            names = {"TWICE", "LATER", "BLANK_LINES", "HANGS_UP"})
    void a_connection_on_which_more_was_said_is_not_used_again(Habit habit) throws Exception {
        try (DoubleTalkingSts sts = new DoubleTalkingSts(habit)) {
            assertEquals("key-of-acme-deploy", accessKey("acme", "deploy", sts));
            letItTalk(habit, sts);

            assertEquals("key-of-acme-backup", accessKey("acme", "backup", sts));
            assertEquals(2, sts.connections());
        }
    }

    @Test
    void a_tenants_quiet_connection_is_used_again() throws Exception {
        try (DoubleTalkingSts sts = new DoubleTalkingSts(Habit.HONEST)) {
            assertEquals("key-of-acme-deploy", accessKey("acme", "deploy", sts));
            assertEquals("key-of-acme-backup", accessKey("acme", "backup", sts));
            assertEquals(1, sts.connections());
        }
    }

    private static void letItTalk(Habit habit, DoubleTalkingSts sts) throws InterruptedException {
        if (habit == Habit.LATER || habit == Habit.HANGS_UP) {
            sts.goOn();
        }
    }

    private String accessKey(String tenant, DoubleTalkingSts sts) {
        return accessKey(tenant, "deploy", sts);
    }

    private String accessKey(String tenant, String key, DoubleTalkingSts sts) {
        Orders order =
                Orders.of(
                        "aws-sts",
                        "{'region':'eu-central-1','endpoint':'" + sts.endpoint() + "'}",
                        """
                        {'role_arn':'arn:aws:iam::123456789012:role/deploy',
                         'session_name':'TENANT-KEY.{mint_id}'}
                        """
                                .replace("TENANT", tenant)
                                .replace("KEY", key));
        return switch (broker.mint(order.of(tenant, "cloud"))) {
            case Minted minted -> minted.credentialId();
            case MintResult.NotMinted _, MintResult.NotCalled _ ->
                    throw new AssertionError("no credential");
        };
    }
}
