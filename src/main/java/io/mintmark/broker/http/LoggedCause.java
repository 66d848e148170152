package io.mintmark.broker.http;

import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.RequestRefusal.BadElements;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.KeyOfOtherType;
import io.mintmark.base.verdict.RequestRefusal.OneTimeToken;
import io.mintmark.base.verdict.RequestRefusal.SharedOutputs;
import io.mintmark.base.verdict.RequestRefusal.TooShort;
import io.mintmark.base.verdict.RequestRefusal.UnacceptedOutputs;
import io.mintmark.base.verdict.RequestRefusal.WrongTarget;

/** Puts why a request was refused into its access line. Nothing that a client wrote gets there. */
final class LoggedCause {
    private LoggedCause() {}

    static void note(Refusal refusal) {
        AccessLog.note(
                Refusals.of(refusal).code(),
                refusal instanceof RequestRefusal request ? word(request) : refusal.word());
    }

    /** Logs an error that is no refusal of the use case. Its texts are the broker's own. */
    static void note(ErrorBody error) {
        AccessLog.note(error.code(), error.details().path("reason").asText(error.message()));
    }

    private static String word(RequestRefusal refusal) {
        return switch (refusal) {
            case BadField _ -> "bad_field";
            case BadElements _ -> "bad_elements";
            case KeyOfOtherType _ -> "key_of_other_type";
            case TooShort _ -> "lifetime_too_short";
            case WrongTarget _ -> "wrong_target";
            case UnacceptedOutputs _ -> "unaccepted_outputs";
            case SharedOutputs _ -> "shared_outputs";
            case OneTimeToken _ -> "one_time_token";
        };
    }
}
