package io.mintmark.base.sql;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;

import io.mintmark.Unchecked;
import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.auditor.reader.ExportedLog;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Seals and verifies the log of a test's database. */
public final class Seals {
    public static final ECKey KEY = key();

    /** Signs the notes of {@link #noted}. */
    public static final NoteSigner NOTES =
            new NoteSigner(
                    "log.example",
                    Unchecked.call(
                            () -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));

    private Seals() {}

    public static ECKey key() {
        return Unchecked.call(() -> new ECKeyGenerator(Curve.P_256).generate());
    }

    /** A checkpoint of now. */
    public static SignedCheckpoint seal(TestDatabase database, ECKey... keys) {
        return seal(database.login(Who.APP), keys);
    }

    public static SignedCheckpoint seal(DatabaseLogin login, ECKey... keys) {
        return seal(login, new SealingKeys(keys.length == 0 ? List.of(KEY) : List.of(keys)));
    }

    /** A checkpoint of now with a note beside it. */
    public static SignedCheckpoint noted(TestDatabase database) {
        return seal(database.login(Who.APP), new SealingKeys(List.of(KEY)).with(NOTES));
    }

    private static SignedCheckpoint seal(DatabaseLogin login, SealingKeys sealing) {
        try (Database connections = TestDatabase.pool(login)) {
            return new PostgresSeals(connections, "test")
                    .seal(true, unsealed -> Optional.of(sealing.seal(unsealed, "test", List.of())))
                    .orElseThrow();
        }
    }

    /** A checkpoint that names another time than now, as whoever has the key can make it. */
    public static SignedCheckpoint sealAt(
            TestDatabase database, Instant at, Checkpoint.RetiredMonth... retired) {
        return sealAt(database, new SealingKeys(List.of(KEY)), at, retired);
    }

    /** A checkpoint that names another time than now, with a note beside it. */
    public static SignedCheckpoint notedAt(TestDatabase database, Instant at) {
        return sealAt(database, new SealingKeys(List.of(KEY)).with(NOTES), at);
    }

    private static SignedCheckpoint sealAt(
            TestDatabase database,
            SealingKeys sealing,
            Instant at,
            Checkpoint.RetiredMonth... retired) {
        try (Database connections = database.pool()) {
            return new PostgresSeals(connections, "test")
                    .seal(
                            true,
                            unsealed ->
                                    Optional.of(
                                            sealing.seal(
                                                    new SealStore.Unsealed(
                                                            unsealed.last(),
                                                            unsealed.announcements(),
                                                            unsealed.heads(),
                                                            unsealed.tree(),
                                                            at.truncatedTo(ChronoUnit.MICROS)),
                                                    "test",
                                                    List.of(retired))))
                    .orElseThrow();
        }
    }

    /** What an auditor finds wrong who trusts the usual key. */
    public static List<String> wrong(TestDatabase database, SignedCheckpoint... kept) {
        return found(database, List.of(KEY), kept).wrong;
    }

    public static Found found(
            TestDatabase database, List<ECKey> trusted, SignedCheckpoint... kept) {
        Found found = new Found();
        try (PostgresLog log = new PostgresLog(database.login(Who.AUDITOR), TestDatabase.ROLES)) {
            found.summary =
                    new Verification(log, new TrustedKeys(trusted), found).run(Stream.of(kept));
        }
        return found;
    }

    /** What is found in an export of all that is in the database, which is written to a file. */
    public static Found foundInExport(
            TestDatabase database, Path file, List<ECKey> trusted, SignedCheckpoint... kept) {
        List<String> lines = new ArrayList<>();
        try (LogFeed feed = new LogFeed(database.login(Who.AUDITOR))) {
            feed.eventHeads(true)
                    .forEach(head -> feed.events(head, 0, row -> lines.add(row.json())));
            feed.changeHeads(true)
                    .forEach(head -> feed.changes(head, 0, row -> lines.add(row.json())));
            feed.checkpoints(0, signed -> lines.add(signed.line()));
        }
        Unchecked.run(() -> Files.write(file, lines));
        return foundIn(List.of(file), trusted, kept);
    }

    public static Found foundIn(List<Path> files, List<ECKey> trusted, SignedCheckpoint... kept) {
        Found found = new Found();
        try (ExportedLog log = new ExportedLog(files, found)) {
            found.summary =
                    new Verification(log, new TrustedKeys(trusted), found).run(Stream.of(kept));
        }
        return found;
    }

    public static final class Found implements Findings {
        public final List<String> wrong = new ArrayList<>();
        public final List<String> foreign = new ArrayList<>();
        public final List<String> declared = new ArrayList<>();
        public final Map<String, String> doubtful = new LinkedHashMap<>();
        public final List<String> told = new ArrayList<>();

        /** The mints with why, apart from the rest: most tests write mints that nobody granted. */
        public final Map<String, String> ungranted = new LinkedHashMap<>();

        public final List<String> altered = new ArrayList<>();
        public Verification.@Nullable Summary summary;

        @Override
        public void wrong(String sentence) {
            wrong.add(sentence);
        }

        @Override
        public void foreign(String sentence) {
            foreign.add(sentence);
        }

        @Override
        public void ungranted(String mint, String why) {
            ungranted.put(mint, why);
        }

        @Override
        public void altered(String sentence) {
            altered.add(sentence);
        }

        @Override
        public void declared(String sentence, String hash) {
            declared.add(hash);
        }

        @Override
        public void doubtful(String sentence, String change) {
            doubtful.put(sentence, change);
        }

        @Override
        public void told(String sentence) {
            told.add(sentence);
        }

        @Override
        public void progress(long rows, long expected) {}
    }
}
