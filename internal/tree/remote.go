package tree

import (
	"context"
	"net/url"
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

// addressOf is where a repository is to be had: as the named remote is, which
// is the repository of, or else by HTTPS.
func addressOf(list []remote, name string, of, repo work.Repo) string {
	for _, r := range list {
		_, path := parts(r.url)
		path = strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".git")
		whose := len(path) - len(of.Owner+"/"+of.Name)
		at := strings.LastIndex(r.url, path)
		if r.name == name && strings.EqualFold(of.Host, repo.Host) && at >= 0 && whose >= 0 && strings.EqualFold(path[whose:], of.Owner+"/"+of.Name) {
			return r.url[:at+whose] + repo.Owner + "/" + repo.Name + ".git"
		}
	}
	host := repo.Host
	if host == "" {
		host = work.DefaultHost
	}
	return "https://" + host + "/" + repo.Owner + "/" + repo.Name + ".git"
}
