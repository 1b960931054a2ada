package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read into memory; a record of a thousand pull
// requests has a megabyte.
const maxFile = 64 << 20

// readFile reads a regular file, through a symbolic link if it is one. Its
// error is fs.ErrNotExist only when nothing stands under that name: a dangling
// link is something. It never waits, as opening a fifo would.
func readFile(path string) ([]byte, error) {
	return readAt(unix.AT_FDCWD, path, nil)
}

// readAt is readFile of a name in an open directory, which costs the kernel less
// than a whole path, into a buffer that it replaces when it is too small.
func readAt(dir int, name string, buf []byte) ([]byte, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, openError(dir, name, err)
	}
	defer syscall.Close(fd)
	if buf = buf[:cap(buf)]; len(buf) > 0 {
		n, err := retry(func() (int, error) { return syscall.Read(fd, buf) })
		if err != nil {
			return nil, err
		}
		if n > 0 && n < len(buf) {
			return buf[:n], nil // files are replaced, never written to: this is all of it
		}
	}
	return readAll(fd)
}

// readAll reads what does not fit into the buffer that there was, or is no
// regular file, and so has neither size nor end.
func readAll(fd int) ([]byte, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, fmt.Errorf("it is no regular file")
	}
	if st.Size > maxFile {
		return nil, fmt.Errorf("it has %d bytes, and the limit is %d", st.Size, maxFile)
	}
	buf := make([]byte, st.Size)
	for n := 0; n < len(buf); {
		m, err := retry(func() (int, error) { return syscall.Pread(fd, buf[n:], int64(n)) })
		if err != nil {
			return nil, err
		}
		if m == 0 {
			return buf[:n], nil
		}
		n += m
	}
	return buf, nil
}

// listDir gives the names in a directory, in no order; none if there is no
// directory. They are read in one call where the file system allows: between two,
// a file that is being replaced can be missed.
func listDir(dir string) ([]string, error) {
	for size := 64 << 10; ; size *= 8 {
		names, whole, err := listInto(make([]byte, size), dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, notOurs(err)
		}
		if whole || size > 8<<20 {
			return names, nil
		}
	}
}

// listInto lists a directory by way of buf, and says whether buf was larger
// than it needed to be.
func listInto(buf []byte, dir string) (names []string, whole bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer d.Close()
	const longest = 1 << 10 // more than one entry takes
	for whole = true; ; {
		n, err := retry(func() (int, error) { return syscall.ReadDirent(int(d.Fd()), buf) })
		if err != nil || n <= 0 {
			return names, whole, os.NewSyscallError("readdir "+dir, err)
		}
		_, _, names = syscall.ParseDirent(buf[:n], -1, names)
		whole = whole && n < len(buf)-longest
	}
}

func openError(dir int, name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist // no file can have that name, or be there; writing tells of a directory that is none
	case errors.Is(err, syscall.ENOENT):
		var st unix.Stat_t
		if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return fmt.Errorf("it is a symbolic link to nothing")
		}
		return fs.ErrNotExist
	}
	return err
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// replace puts data in the place of path, whole or not at all, by way of tmp
// on the same file system. A symbolic link is refused: it would become a copy.
func replace(path, tmp string, data []byte) error {
	if err := refuseLink(path); err != nil {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, ignoreAbsent(os.Remove(tmp)))
	}
	return syncDir(filepath.Dir(path))
}

// move renames a file into another directory, so that a power cut leaves it in
// one of the two.
func move(from, to string) error {
	if err := refuseLink(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		return err
	}
	return syncDir(filepath.Dir(from))
}

func refuseLink(path string) error {
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%q is a symbolic link, and writing would turn it into a copy: put the file itself there", path)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
