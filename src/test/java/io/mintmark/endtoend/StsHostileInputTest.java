package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Whatever a client sends to {@code /sdk/sts}, the answer is one well-formed document of STS. */
@Tag("heavy")
class StsHostileInputTest {
    private static final int ROUNDS = 1_000;
    private static final long SEED = 33;

    private static final String[] NAMES = {
        "Action", "Version", "RoleArn", "RoleSessionName", "WebIdentityToken", "DurationSeconds",
        "ProviderId", "x", "policy", "<", "\u0000", "]]>"
    };

    private static final String[] PIECES = {
        "AssumeRoleWithWebIdentity",
        "arn:aws:iam::123456789012:role/",
        "deploy",
        "<",
        ">",
        "&",
        "\"",
        "'",
        "]]>",
        "<!--",
        "-->",
        "<![CDATA[",
        "<?xml version='1.0'?>",
        "&lt;",
        "&#0;",
        "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
        "&e;",
        "\u0000",
        "\u0001",
        "\u0008",
        "\u000b",
        "\t",
        "\n",
        "\r",
        "\u001b[31m",
        "\u007f",
        "\u0085",
        "\u2028",
        "\ufeff",
        "\ufffe",
        "\uffff",
        "\ud83d\ude00",
        "\udb40\udc41",
        "</Message></Error>",
        "%s%n",
        "${jndi:ldap://x}",
        "900",
        "-1",
        " "
    };

    @AutoClose private static final World world = new World();

    private static Answer post(String body) {
        return world.broker().send(StsForms.request(world.broker().url(), body));
    }

    private static String pieces(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i >= 0; i--) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.toString();
    }

    @Test
    void the_answer_is_one_document_whatever_the_parameters_hold() {
        Random random = new Random(SEED);
        for (int i = 0; i < ROUNDS; i++) {
            Map<String, String> form = StsForms.form(world.token(), World.ROLE);
            for (int changes = random.nextInt(3); changes >= 0; changes--) {
                form.put(NAMES[random.nextInt(NAMES.length)], pieces(random));
            }
            Answer answer = post(StsForms.encoded(form));
            assertTrue(Set.of(200, 400, 403).contains(answer.status()), answer::toString);
            String code = StsForms.text(answer, answer.status() == 200 ? "AccessKeyId" : "Code");
            assertTrue(code.matches("[A-Za-z0-9]+"), answer::toString);
            assertTrue(
                    answer.response()
                            .body()
                            .chars()
                            .noneMatch(character -> character < ' ' || character == 0x7f),
                    answer::toString);
        }
    }

    @Test
    void bytes_that_are_no_form_are_refused() {
        Random random = new Random(SEED);
        for (int i = 0; i < ROUNDS; i++) {
            StringBuilder body = new StringBuilder();
            for (int length = random.nextInt(60); length >= 0; length--) {
                body.append("%&=+;aA<.\u00e9".charAt(random.nextInt(10)));
            }
            Answer answer = post(body.toString());
            assertEquals(400, answer.status(), answer::toString);
            assertTrue(
                    Set.of("ValidationError", "InvalidAction")
                            .contains(StsForms.text(answer, "Code")));
        }
    }

    @Test
    void a_subject_can_not_break_out_of_its_element() {
        String subject = "</SubjectFromWebIdentityToken><AccessKeyId>&\"'\ud83d\ude00";
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', $$%s$$, 'deploy')
                """
                        .formatted(subject));
        Map<String, String> form =
                StsForms.form(world.issuer().sign(subject, World.AUDIENCE), World.ROLE);
        Answer answer = post(StsForms.encoded(form));
        assertEquals(200, answer.status(), answer::toString);
        assertEquals(subject, StsForms.text(answer, "SubjectFromWebIdentityToken"));
        assertTrue(StsForms.text(answer, "AccessKeyId").startsWith("ASIA"));
    }

    @Test
    void half_a_character_in_a_subject_is_shown_as_a_question_mark() {
        Map<String, Object> claims = new HashMap<>();
        claims.put("sub", "ci:\ud800main");
        claims.put("aud", World.AUDIENCE);
        Answer answer =
                post(StsForms.encoded(StsForms.form(world.issuer().sign(claims), World.ROLE)));
        assertTrue(List.of(400, 403).contains(answer.status()), answer::toString);
        StsForms.text(answer, "Message");
    }

    @Test
    void a_form_of_many_parameters_is_refused() {
        StringBuilder body = new StringBuilder();
        for (int i = 0; body.length() < 65_000; i++) {
            body.append('&').append(i).append("=%41");
        }
        assertEquals("ValidationError", StsForms.text(post(body.toString()), "Code"));
    }
}
