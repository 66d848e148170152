package io.mintmark.base.pkcs11;

import java.util.Map;

/** A function of a PKCS#11 library returned an error. */
final class CryptokiFailure extends Exception {
    private static final long serialVersionUID = 1L;

    static final long PIN_INCORRECT = 0xA0;
    static final long PIN_LOCKED = 0xA4;
    static final long ATTRIBUTE_SENSITIVE = 0x11;
    static final long ATTRIBUTE_TYPE_INVALID = 0x12;
    static final long USER_ALREADY_LOGGED_IN = 0x100;
    static final long CRYPTOKI_ALREADY_INITIALIZED = 0x191;

    /** PKCS#11 3.0, section 5.1. */
    private static final Map<Long, String> NAMES =
            Map.ofEntries(
                    Map.entry(0x3L, "CKR_SLOT_ID_INVALID"),
                    Map.entry(0x5L, "CKR_GENERAL_ERROR"),
                    Map.entry(0x6L, "CKR_FUNCTION_FAILED"),
                    Map.entry(0x30L, "CKR_DEVICE_ERROR"),
                    Map.entry(0x31L, "CKR_DEVICE_MEMORY"),
                    Map.entry(0x32L, "CKR_DEVICE_REMOVED"),
                    Map.entry(0x60L, "CKR_KEY_HANDLE_INVALID"),
                    Map.entry(0x63L, "CKR_KEY_TYPE_INCONSISTENT"),
                    Map.entry(0x68L, "CKR_KEY_FUNCTION_NOT_PERMITTED"),
                    Map.entry(0x70L, "CKR_MECHANISM_INVALID"),
                    Map.entry(0x82L, "CKR_OBJECT_HANDLE_INVALID"),
                    Map.entry(PIN_INCORRECT, "CKR_PIN_INCORRECT"),
                    Map.entry(PIN_LOCKED, "CKR_PIN_LOCKED"),
                    Map.entry(0xB0L, "CKR_SESSION_CLOSED"),
                    Map.entry(0xB1L, "CKR_SESSION_COUNT"),
                    Map.entry(0xB3L, "CKR_SESSION_HANDLE_INVALID"),
                    Map.entry(0xE0L, "CKR_TOKEN_NOT_PRESENT"),
                    Map.entry(0xE1L, "CKR_TOKEN_NOT_RECOGNIZED"),
                    Map.entry(0x101L, "CKR_USER_NOT_LOGGED_IN"),
                    Map.entry(0x190L, "CKR_CRYPTOKI_NOT_INITIALIZED"));

    private final long code;

    CryptokiFailure(String function, long code) {
        super("%s returned %s".formatted(function, named(code)));
        this.code = code;
    }

    long code() {
        return code;
    }

    private static String named(long code) {
        String number = "0x" + Long.toHexString(code);
        String name = NAMES.get(code);
        return name == null ? number : "%s (%s)".formatted(name, number);
    }
}
