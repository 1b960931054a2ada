//go:build !race

package store

const links, large = 500, 25 << 20
