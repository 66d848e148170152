package io.mintmark.broker.http;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.StsForms;
import io.mintmark.endtoend.World;

import java.util.List;

/** Provokes the answers of a cell that a tenant has left. */
final class ProvokedMove {
    private static final String JSON = "Content-Type: application/json";
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String REQUEST = "/access-requests/7c9e6679-7425-40de-944b-e07fc1f90ae7";

    private final RealAnswers answers;
    private final World world;
    private final String token;
    private final String bearer;

    ProvokedMove(RealAnswers answers, World world) {
        this.answers = answers;
        this.world = world;
        this.token = world.token();
        this.bearer = "Authorization: Bearer " + token;
    }

    void provoke() {
        world.database()
                .runAsSuperuser(
                        "UPDATE broker.tenant SET moved_to = 'https://b.mintmark.example.com' WHERE name = 'acme'");
        Eventually.holds(() -> world.broker().keys(token).status() == 421);
        answers.mint(world, token, "deploy");
        for (String line :
                List.of(
                        "GET /credentials/keys",
                        "GET /access-requests",
                        "GET " + REQUEST,
                        "DELETE " + REQUEST)) {
            answers.ask(world, line, "", bearer);
        }
        answers.ask(
                world,
                "POST /access-requests",
                "{\"keys\":[\"spare\"],\"reason\":\"The export is stuck\",\"seconds\":3600}",
                JSON,
                bearer);
        answers.ask(
                world,
                "POST " + REQUEST + "/decision",
                "{\"verdict\":\"refuse\",\"note\":\"noted\"}",
                JSON,
                bearer);
        answers.ask(world, "POST /sign/login", Everything.PUBLIC_KEY, bearer);
        answers.ask(world, "GET /sdk/aws/deploy", "", "Authorization: " + token);
        answers.ask(
                world, "POST /sdk/sts", StsForms.encoded(StsForms.form(token, World.ROLE)), FORM);
        for (String path : List.of("/oauth2/token", "/tenants/acme/oauth2/v2.0/token")) {
            answers.ask(
                    world,
                    "POST " + path,
                    "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&audience=api&assertion="
                            + token,
                    FORM);
        }
    }
}
