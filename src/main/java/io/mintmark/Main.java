package io.mintmark;

/** Starts the broker. */
public final class Main {
    private Main() {}

    /** The command line. */
    public static void main(String[] args) {
        System.out.println("mintmark");
    }
}
