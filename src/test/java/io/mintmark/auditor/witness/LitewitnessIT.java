package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program's witness and the reference witness are sent the same requests. */
class LitewitnessIT {
    private static final Path VECTORS = Path.of("target", "witnesses", "litewitness.txt");
    private static final Pattern VECTOR =
            Pattern.compile(
                    "POST \\S+/add-checkpoint\n```\n(.*?)```\nHTTP (\\d+)\n\\[Asserts]\nbody (.*?)\n",
                    Pattern.DOTALL);
    private static final Pattern VECTORS_KEY = Pattern.compile("add-sigsum-log -key=(\\w+)");
    private static final Pattern BODY = Pattern.compile("== \"(\\d+)\\\\n\"");
    private static final int KILLS = 4;
    private static final int SIZES = 10;

    @TempDir private Path directory;
    @AutoClose private final HttpClient client = HttpClient.newHttpClient();
    private final TestLog log = new TestLog("mintmark.example.com/audit/1");

    enum Program {
        OWN {
            @Override
            KillableWitness of(Path directory, NoteKey log) throws IOException {
                return new OwnWitnessProcess(directory, log);
            }
        },
        LITEWITNESS {
            @Override
            KillableWitness of(Path directory, NoteKey log) throws IOException {
                return new Litewitness(directory, log);
            }
        };

        abstract KillableWitness of(Path directory, NoteKey log) throws IOException;

        KillableWitness started(Path directory, NoteKey log) throws IOException {
            KillableWitness witness = of(directory, log);
            witness.start();
            return witness;
        }
    }

    private CompletableFuture<HttpResponse<String>> send(KillableWitness to, String request) {
        return client.sendAsync(
                HttpRequest.newBuilder(URI.create(to.url() + "/add-checkpoint"))
                        .POST(BodyPublishers.ofString(request))
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> post(KillableWitness to, String request) {
        return send(to, request).join();
    }

    private static void assertCosigned(
            KillableWitness by, String text, HttpResponse<String> answer) {
        assertEquals(200, answer.statusCode(), answer::body);
        assertTrue(CosignedNote.parse(answer.body()).holds(by.key(), text), answer::body);
    }

    private static void assertConflict(long size, HttpResponse<String> answer) {
        assertEquals(409, answer.statusCode(), answer::body);
        assertEquals(size + "\n", answer.body());
        assertEquals(Optional.of("text/x.tlog.size"), answer.headers().firstValue("Content-Type"));
    }

    private static NoteKey vectorsKey(String vectors) {
        Matcher key = VECTORS_KEY.matcher(vectors);
        assertTrue(key.find());
        byte[] hash = CanonicalForm.sha256().digest(HexFormat.of().parseHex(key.group(1)));
        String origin = "sigsum.org/v1/tree/" + HexFormat.of().formatHex(hash);
        return new NoteKey(origin, NoteKey.Type.NOTE, key.group(1));
    }

    /**
     * A request whose signature is in canonical base64. The program's witness rejects another one
     * as unreadable (RFC 4648 section 3.5), before it looks for a key that made the signature.
     */
    private static String canonical(String request) {
        int begin = request.lastIndexOf(' ') + 1;
        byte[] signature = Base64.getDecoder().decode(request.substring(begin).strip());
        return request.substring(0, begin) + Base64Text.of(signature) + "\n";
    }

    @ParameterizedTest
    @EnumSource
    void it_answers_the_requests_of_the_reference_as_their_tests_expect(Program program)
            throws Exception {
        String vectors = Files.readString(VECTORS);
        List<MatchResult> requests = VECTOR.matcher(vectors).results().toList();
        assertEquals(9, requests.size());
        try (KillableWitness witness = program.started(directory, vectorsKey(vectors))) {
            for (MatchResult vector : requests) {
                String request = canonical(vector.group(1));
                if (program == Program.OWN && !request.equals(vector.group(1))) {
                    assertEquals(400, post(witness, vector.group(1)).statusCode());
                }
                HttpResponse<String> answer = post(witness, request);
                assertEquals(vector.group(2), Integer.toString(answer.statusCode()), request);
                String note = request.substring(request.indexOf("\n\n") + 2);
                if (answer.statusCode() == 200) {
                    assertCosigned(witness, SignedNote.parse(note).text(), answer);
                }
                Matcher body = BODY.matcher(vector.group(3));
                if (body.matches()) {
                    assertConflict(Long.parseLong(body.group(1)), answer);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_history_that_was_rewound_is_a_conflict(Program program) throws Exception {
        log.grow("a", "b", "c", "d", "e");
        try (KillableWitness witness = program.started(directory, log.key())) {
            assertCosigned(witness, log.text(), post(witness, log.submission(0)));
            TestLog rewound = log.fork(3);
            assertConflict(5, post(witness, rewound.submission(0)));
            assertConflict(5, post(witness, rewound.submission(3)));
            assertConflict(5, post(witness, rewound.grow("x", "y", "z").submission(3)));
            assertEquals(422, post(witness, rewound.submission(5)).statusCode());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_witness_that_was_killed_between_write_and_answer_cosigns_no_other_history(
            Program program) throws Exception {
        TestLog history = log;
        try (KillableWitness witness = program.started(directory, log.key())) {
            for (int old = 0; old < KILLS; old++) {
                TestLog other = history.fork(old).grow("other " + old);
                history.grow("leaf " + old);
                witness.stall();
                var answer = send(witness, history.submission(old));
                Eventually.holds(witness::isStalled);
                witness.kill();
                ExecutionException lost = assertThrows(ExecutionException.class, answer::get);
                assertTrue(lost.getCause() instanceof IOException, lost::toString);

                witness.start();
                assertConflict(old + 1L, post(witness, other.submission(old)));
                int status = post(witness, other.submission(old + 1)).statusCode();
                assertTrue(status == 409 || status == 422, () -> "status " + status);
                assertConflict(old + 1L, post(witness, history.submission(old)));
                assertCosigned(witness, history.text(), post(witness, history.submission(old + 1)));
            }
        }
    }

    /** Which of them it knows after a kill is known only from its next answers. */
    @ParameterizedTest
    @EnumSource
    void of_two_histories_at_once_it_cosigns_one_though_it_is_killed(Program program)
            throws Exception {
        Map<Integer, Set<String>> cosigned = new HashMap<>();
        TestLog history = log;
        try (KillableWitness witness = program.started(directory, log.key())) {
            for (int old = 0; old < SIZES; old++) {
                TestLog one = history.fork(old).grow("one " + old);
                TestLog two = history.fork(old).grow("two " + old);
                Set<String> texts = cosigned.computeIfAbsent(old, _ -> new HashSet<>());
                var first = send(witness, one.submission(old));
                var second = send(witness, two.submission(old));
                if (old % 2 == 0) {
                    var _ = CompletableFuture.anyOf(first, second).join();
                }
                witness.kill();
                note(witness, one, first, texts);
                note(witness, two, second, texts);
                witness.start();
                note(witness, one, send(witness, one.submission(old)), texts);
                note(witness, two, send(witness, two.submission(old)), texts);
                note(witness, one, send(witness, one.submission(old + 1)), texts);
                note(witness, two, send(witness, two.submission(old + 1)), texts);
                assertEquals(1, texts.size(), texts::toString);
                history = texts.contains(one.text()) ? one : two;
            }
        }
        assertEquals(SIZES, cosigned.size());
    }

    private static void note(
            KillableWitness by,
            TestLog of,
            CompletableFuture<HttpResponse<String>> answer,
            Set<String> cosigned) {
        try {
            if (answer.join().statusCode() == 200) {
                assertCosigned(by, of.text(), answer.join());
                cosigned.add(of.text());
            }
        } catch (CompletionException e) {
            assertTrue(e.getCause() instanceof IOException, e::toString);
        }
    }
}
