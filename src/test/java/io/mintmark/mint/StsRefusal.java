package io.mintmark.mint;

/** An error answer of the {@link StsStandIn}. */
final class StsRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final String message;

    StsRefusal(int status, String code, String message) {
        super(message);
        this.status = status;
        this.code = code;
        this.message = message;
    }

    static StsRefusal validation(String message) {
        return new StsRefusal(400, "ValidationError", message);
    }

    static StsRefusal identity(String message) {
        return new StsRefusal(400, "InvalidIdentityToken", message);
    }

    int status() {
        return status;
    }

    String code() {
        return code;
    }

    String message() {
        return message;
    }
}
