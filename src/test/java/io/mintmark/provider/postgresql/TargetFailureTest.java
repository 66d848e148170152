package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.verdict.MintRefusal.Reason;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.sql.SQLException;

/** The table of docs/providers/postgresql.md. */
class TargetFailureTest {

    @ParameterizedTest
    @CsvSource({
        "28000, BROKER_IDENTITY_REJECTED", "28P01, BROKER_IDENTITY_REJECTED",
        "42501, PROVIDER_REJECTED", "0LP01, PROVIDER_REJECTED",
        "42704, PROVIDER_MISCONFIGURED", "3D000, PROVIDER_MISCONFIGURED",
        "22023, PROVIDER_MISCONFIGURED", "25006, PROVIDER_MISCONFIGURED",
        "53300, PROVIDER_THROTTLED", "53400, PROVIDER_THROTTLED",
        "08001, PROVIDER_UNREACHABLE", "08006, PROVIDER_UNREACHABLE",
        "57P01, PROVIDER_UNREACHABLE", "57P02, PROVIDER_UNREACHABLE",
        "57P03, PROVIDER_UNREACHABLE", "57014, PROVIDER_TIMEOUT",
        "55P03, PROVIDER_TIMEOUT", "08P01, PROVIDER_ERROR",
        "42710, PROVIDER_ERROR", "XX000, PROVIDER_ERROR",
        ", PROVIDER_ERROR"
    })
    void each_condition_has_its_reason(String state, Reason reason) {
        TargetFailure failure =
                TargetFailure.of(new Server("db.example", 5432), new SQLException("no", state));

        assertEquals(reason, failure.reason());
    }

    /** A server that has no place yet may have one soon; nothing else is tried again. */
    @ParameterizedTest
    @CsvSource({"57P03, true", "53300, true", "53400, false", "57P01, false", "08006, false"})
    void few_conditions_are_worth_a_second_try(String state, boolean worth) {
        assertEquals(
                worth,
                TargetFailure.of(new Server("db.example", 5432), new SQLException("no", state))
                        .helpsToRetry());
    }
}
