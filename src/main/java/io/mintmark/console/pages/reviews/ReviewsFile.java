package io.mintmark.console.pages.reviews;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.frame.CsvFile;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;

import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/** The grants of the page of reviews as CSV; the last line says so if there are more. */
public final class ReviewsFile implements Handler {
    private static final String HEAD =
            "tenant,grant_id,key,subject,match,idp,owner,reason,created_by,created_at,last_used_at,"
                    + "uses_90d,lint,last_reviewed_at,last_reviewed_by,due";

    private final ViewerDatabase database;
    private final InstantSource clock;

    /** The file at {@code /reviews/download}. */
    public ReviewsFile(ViewerDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        ReviewsPage.Wanted wanted = ReviewsPage.Wanted.of(new Parameters(request));
        List<ReviewsPage.Line> grants =
                database.read(
                        Rendering.viewer(request),
                        connection -> ReviewsPage.find(connection, wanted, CsvFile.MOST + 1));
        new CsvFile(
                        "reviews-" + LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC),
                        HEAD,
                        grants.stream().limit(CsvFile.MOST).map(ReviewsFile::row),
                        grants.size() > CsvFile.MOST
                                ? Optional.of(
                                        "there are more grants after grant "
                                                + grants.get(CsvFile.MOST - 1).grantId())
                                : Optional.empty())
                .send(response);
    }

    private static List<String> row(ReviewsPage.Line grant) {
        return List.of(
                grant.tenant(),
                Long.toString(grant.grantId()),
                grant.key(),
                grant.subject(),
                grant.match(),
                grant.idp(),
                grant.owner().orElse(""),
                grant.reason().orElse(""),
                grant.createdBy(),
                grant.createdAt().toString(),
                grant.lastUsedAt().map(Object::toString).orElse(""),
                grant.usedInDigits(),
                grant.lint().orElse(""),
                grant.lastReviewedAt().map(Object::toString).orElse(""),
                grant.lastReviewedBy().orElse(""),
                Boolean.toString(grant.due()));
    }
}
