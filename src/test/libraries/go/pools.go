package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgx logs in with the file of a login, by openPool of docs/clients/databases.md.
func poolsOfPgx(ctx context.Context) {
	address := os.Getenv("POSTGRES")
	directory, err := os.MkdirTemp("", "login")
	check(err)
	defer os.RemoveAll(directory)
	write := func() {
		command := exec.Command(os.Getenv("MINTMARK_CLIENT"), "agent", "--write", directory, "--once", "orders-login")
		command.Stderr = os.Stderr
		check(command.Run())
	}
	endOf := func(login string) { // what the broker does at a login's end
		server, err := pgx.Connect(ctx, "postgres://postgres@"+address+"/postgres")
		check(err)
		defer server.Close(ctx)
		_, err = server.Exec(ctx, "ALTER ROLE "+login+" PASSWORD NULL")
		check(err)
		_, err = server.Exec(ctx, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1", login)
		check(err)
	}

	write()
	pool, err := openPool(ctx, "postgres://"+address+"/postgres", directory+"/orders-login/env")
	check(err)
	defer pool.Close()
	one, err := pool.Acquire(ctx)
	check(err)
	first, err := userOf(ctx, one)
	check(err)
	expect(strings.HasPrefix(first, "mm_"), first)

	write()
	two, err := pool.Acquire(ctx)
	check(err)
	second, err := userOf(ctx, two)
	check(err)
	expect(strings.HasPrefix(second, "mm_") && second != first, second)

	endOf(first)
	_, err = userOf(ctx, one)
	expect(err != nil, "a connection outlived its login")
	one.Release()
	two.Release()
	three, err := pool.Acquire(ctx)
	check(err)
	third, err := userOf(ctx, three)
	check(err)
	expect(third == second, third)
	three.Release()
}

func userOf(ctx context.Context, connection *pgxpool.Conn) (user string, err error) {
	err = connection.QueryRow(ctx, "SELECT current_user").Scan(&user)
	if err != nil {
		err = fmt.Errorf("current_user: %w", err)
	}
	return
}
