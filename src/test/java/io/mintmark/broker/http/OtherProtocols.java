package io.mintmark.broker.http;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.StsForms;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsAnswer;

import java.util.List;
import java.util.Map;

/** Provokes the answers of the protocols that aren't the interface's. */
final class OtherProtocols {
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String EXCHANGE =
            "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
                    + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt";

    private final RealAnswers answers;
    private final World world;

    OtherProtocols(RealAnswers answers, World world) {
        this.answers = answers;
        this.world = world;
    }

    void provoke() {
        prepare();
        awsSdk();
        sts();
        oauth();
        for (String path :
                List.of(
                        "/sdk/aws/deploy",
                        "/sdk/sts",
                        "/oauth2/token",
                        "/tenants/acme/oauth2/v2.0/token",
                        "/.well-known/oauth-authorization-server")) {
            for (String method : List.of("HEAD", "PUT", "OPTIONS", "TRACE", "BREW")) {
                answers.ask(world, method + " " + path, "", "Origin: https://console.example.com");
            }
        }
    }

    private void prepare() {
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'no-server', 'oauth2', '{"token_endpoint": "http://127.0.0.1:%d/token"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'unserved', 'no-server', 600, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'unserved');
                """
                        .formatted(RunningBroker.freePort()));
        Eventually.holds(() -> world.broker().keys(world.token()).toString().contains("unserved"));
    }

    private void awsSdk() {
        world.sts().always(new StsAnswer.AsAsked());
        sdk("deploy", world.token());
        sdk("api", world.token());
        sdk("1", world.token());
        sdk("spare", world.token());
        sdk("nothing", world.token());
        sdk("deploy", "garbage");
        for (StsAnswer answer :
                List.of(
                        new StsAnswer.Hanging(),
                        new StsAnswer.Refusing(403, "AccessDenied", "a"),
                        new StsAnswer.Saying(200, "<html>"))) {
            world.sts().next(answer);
            sdk("deploy", world.token());
        }
    }

    private void sdk(String key, String token) {
        answers.ask(world, "GET /sdk/aws/" + key, "", "Authorization: " + token);
    }

    private void sts() {
        world.sts().always(new StsAnswer.AsAsked());
        assume(StsForms.form(world.token(), World.ROLE));
        assume(StsForms.form(world.token(), "arn:aws:iam::000000000000:role/spare"));
        assume(StsForms.form("garbage", World.ROLE));
        assume(Map.of("Action", "GetCallerIdentity"));
        for (StsAnswer answer :
                List.of(
                        new StsAnswer.Refusing(403, "AccessDenied", "a"),
                        new StsAnswer.Saying(200, "<html>"))) {
            world.sts().next(answer);
            assume(StsForms.form(world.token(), World.ROLE));
        }
        answers.ask(world, "POST /sdk/sts", "{}", "Content-Type: application/json");
    }

    private void assume(Map<String, String> form) {
        answers.ask(world, "POST /sdk/sts", StsForms.encoded(form), FORM);
    }

    private void oauth() {
        exchange("&audience=api");
        exchange("&audience=unserved");
        exchange("&audience=spare");
        exchange("&audience=deploy");
        exchange("&audience=nothing");
        exchange("&audience=api&client_secret=x");
        exchange("&audience=api&audience=api");
        exchange("");
        answers.ask(world, "POST /oauth2/token", "grant_type=password", FORM);
        answers.ask(world, "POST /oauth2/token", "{}", "Content-Type: application/json");
        answers.ask(world, "POST /oauth2/token", "a=b", FORM, "Authorization: Bearer x");
        answers.ask(world, "POST /oauth2/token", EXCHANGE + "&subject_token=x&audience=api", FORM);
        answers.ask(
                world,
                "POST /oauth2/token",
                "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=x&audience=api",
                FORM);
        ofTenant("acme", world.token());
        ofTenant("acme", "garbage");
        ofTenant("other", world.token());
        answers.ask(
                world,
                "POST /tenants/acme/oauth2/v2.0/token",
                "{}",
                "Content-Type: application/json");
        answers.ask(world, "GET /.well-known/oauth-authorization-server", "");
    }

    private void ofTenant(String tenant, String token) {
        answers.ask(
                world,
                "POST /tenants/" + tenant + "/oauth2/v2.0/token",
                "grant_type=client_credentials&scope=api/.default&client_assertion_type="
                        + "urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion="
                        + token,
                FORM);
    }

    private void exchange(String parameters) {
        answers.ask(
                world,
                "POST /oauth2/token",
                EXCHANGE + "&subject_token=" + world.token() + parameters,
                FORM);
    }
}
