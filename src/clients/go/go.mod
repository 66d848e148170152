module mintmark.io/go

go 1.22
