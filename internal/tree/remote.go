package tree

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/gh-loop/gh-loop/internal/work"
)

// remote is one remote of a clone.
type remote struct{ name, url string }

// remotes lists the remotes with the addresses that git would fetch from.
func (t Trees) remotes(ctx context.Context, clone string) ([]remote, error) {
	out, err := t.git(ctx, clone, "remote", "-v")
	if err != nil {
		return nil, err
	}
	var list []remote
	for line := range strings.Lines(out) {
		name, address, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if i := strings.LastIndex(address, " (fetch)"); ok && i >= 0 {
			list = append(list, remote{name, address[:i]})
		}
	}
	return list, nil
}

// pick finds the remote that is the repository, or else one whose address
// names no repository at all, such as a directory: origin, or the only one.
func pick(list []remote, repo work.Repo) (exact, fallback string) {
	alias, local := "", []string{}
	for _, r := range list {
		host, path := parts(r.url)
		switch {
		case host == "":
			local = append(local, r.name)
		case !strings.EqualFold(path, repo.Owner+"/"+repo.Name):
		case sameHost(host, repo.Host) && exact == "":
			exact = r.name
		case !strings.Contains(host, ".") && alias == "":
			alias = r.name // a name from the user's ssh configuration
		}
	}
	if exact == "" {
		exact = alias
	}
	for _, name := range local {
		if name == "origin" || len(list) == 1 {
			fallback = name
		}
	}
	return exact, fallback
}

// parts cuts an address into its host, without port, and owner/repo. A
// directory has no host.
func parts(address string) (host, path string) {
	if !strings.Contains(address, "://") {
		at := strings.IndexByte(address, ':')
		if slash := strings.IndexByte(address, '/'); at < 0 || slash >= 0 && slash < at {
			return "", address
		}
		host, path = address[:at], address[at+1:] // [user@]host:owner/repo, as scp writes it
		host = host[strings.LastIndexByte(host, '@')+1:]
	} else {
		u, err := url.Parse(address)
		if err != nil {
			return "unreadable.invalid", ""
		}
		host, path = u.Hostname(), u.Path
	}
	return host, strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// sameHost compares the host of an address with a ref's. GitHub also takes ssh
// on ssh.github.com.
func sameHost(host, of string) bool {
	if of == "" {
		of = work.DefaultHost
	}
	of, _, _ = strings.Cut(of, ":")
	return strings.EqualFold(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(host), "ssh."), "www."), of)
}

// named finds the clone that the user named for a repository.
func named(repos map[string]string, repo work.Repo) string {
	for name, path := range repos {
		if r, err := work.ParseRepo(name); err == nil && r.Same(repo) {
			return path
		}
	}
	return ""
}

// inside says whether path is dir or lies below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// resolved follows the symbolic links of as much of a path as exists.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}
