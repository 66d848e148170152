package io.mintmark.console.pages.mints;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.frame.CsvFile;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.mints.MintSearch.Found;

import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The found mints as CSV. If more exist, the last line shows where the file ends. */
public final class Download implements Handler {
    /** Characters that are not safe in file names. */
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9._-]+");

    private static final int LONGEST_NAME = 120;

    private static final String HEAD =
            "mint_id,at,outcome,reason,tenant,idp,subject,actor,key,provider_type,credential_id,expires_at,request_id,"
                    + "grant_id,client_address,token_hash,chain,seq,ended_at";

    private final ViewerDatabase database;
    private final InstantSource clock;

    /** The file at {@code /mints/download}. */
    public Download(ViewerDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        Viewer viewer = request.context().get(Viewer.class).orElseThrow();
        Parameters parameters = new Parameters(request);
        Instant now = clock.instant();
        Wanted wanted = Wanted.of(parameters, now);
        Found found =
                database.read(
                        viewer,
                        connection -> MintSearch.find(connection, wanted, CsvFile.MOST, now));
        new CsvFile(
                        name(parameters),
                        HEAD,
                        found.lines().stream().map(Download::row),
                        found.next().map("there are more mints before %s"::formatted))
                .send(response);
    }

    /** The file name: the day and the filters. */
    private String name(Parameters parameters) {
        String filter =
                Stream.of(
                                "tenant", "key", "subject", "actor", "outcome", "q", "range",
                                "from", "to", "before")
                        .flatMap(name ->
                                parameters.text(name).map(text -> "-" + name + "-" + text).stream())
                        .map(part -> UNUSUAL.matcher(part).replaceAll("_"))
                        .collect(Collectors.joining());
        String name = "mints-" + LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC) + filter;
        return name.substring(0, Math.min(name.length(), LONGEST_NAME));
    }

    private static List<String> row(MintLine line) {
        return Stream.of(
                        Optional.of(line.id()),
                        Optional.of(line.at().toString()),
                        Optional.of(line.outcome().word()),
                        line.reason(),
                        line.tenant(),
                        line.idp(),
                        line.subject(),
                        line.actor(),
                        line.key(),
                        line.providerType(),
                        line.credentialId(),
                        line.expiresAt().map(Object::toString),
                        Optional.of(line.requestId()),
                        line.trace().grantId(),
                        line.trace().clientAddress(),
                        line.trace().tokenHash(),
                        line.trace().chain(),
                        line.trace().seq(),
                        line.endedAt().map(Object::toString))
                .map(value -> value.orElse(""))
                .toList();
    }
}
