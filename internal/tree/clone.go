package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// clones is the directory below Root with the clones that we make.
const clones = ".clones"

// ownClone gives our own clone of a repository that nobody named one of, and
// makes it if it is not there: without files, as it only has trees. A clone
// that is not finished has another name, and the next maker takes that away.
func (t Trees) ownClone(ctx context.Context, r Request) (home, error) {
	repo := r.Ref.Repository()
	sum := sha256.Sum256([]byte(strings.ToLower(repo.String())))
	name := strings.NewReplacer("/", "-", ":", "-").Replace(strings.ToLower(repo.String())) + "~" + hex.EncodeToString(sum[:4])
	dir := filepath.Join(t.Root, clones, name)
	wait, cancel := context.WithTimeout(ctx, t.lockWait())
	defer cancel()
	n, err := t.lock(wait, "own-"+name)
	if err != nil {
		return home{}, err
	}
	defer n.unlock()
	if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err != nil {
		if err := t.makeClone(ctx, r, dir); err != nil {
			return home{}, err
		}
	}
	h, err := t.homeAt(ctx, dir)
	if err != nil {
		return home{}, declined(fmt.Sprintf("remove %q, it is made again", dir), "our clone of %s is damaged: %v", repo, err)
	}
	h.root, h.remote = "", "origin"
	return h, nil
}

func (t Trees) makeClone(ctx context.Context, r Request, dir string) error {
	repo := r.Ref.Repository()
	var near []remote
	if h, err := t.homeAt(ctx, r.Cwd); err == nil {
		near = h.remotes
	}
	like, local := pick(near, r.Item.Repository())
	if like == "" {
		like = local
	}
	address, part := addressOf(near, like, r.Item.Repository(), repo), dir+".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	_, err := t.git(ctx, filepath.Dir(dir), "clone", "--quiet", "--no-checkout", "--origin", "origin",
		"--config", "http.lowSpeedLimit=1000", "--config", "http.lowSpeedTime=60", "--", address, part)
	if err == nil {
		err = os.Rename(part, dir)
	}
	if err != nil {
		_ = os.RemoveAll(part)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := failed(err, "%s cannot be cloned from %q", repo, secret().ReplaceAllString(address, "://")).(*DeclinedError)
		e.Cure = fmt.Sprintf("name a clone in the configuration, workspace.repos.%q = \"/path\", or %s", repo, e.Cure)
		return e
	}
	return nil
}
