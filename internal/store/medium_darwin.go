package store

import "golang.org/x/sys/unix"

// MediumOf asks the kernel about the disk that a directory is on.
func MediumOf(dir string) (Medium, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Medium{}, err
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	return Medium{Name: name, Remote: st.Flags&unix.MNT_LOCAL == 0, Free: st.Bavail * uint64(st.Bsize), Inodes: st.Ffree, counted: st.Files > 0}, nil
}
