package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// keyLines finds the line on which each key of a file is first written. The
// file is one that parses. Our TOML library keeps no positions of keys
// (https://github.com/BurntSushi/toml/issues/213), so the file is cut into its
// statements, and each is read by the library on its own.
func keyLines(text string) map[string]int {
	lines := map[string]int{}
	var table toml.Key
	for line := 1; text != ""; {
		n := statement(text)
		one := text[:n]
		var into map[string]any
		if md, err := toml.Decode(one, &into); err == nil && len(md.Keys()) > 0 {
			header := strings.HasPrefix(strings.TrimLeft(one, " \t\ufeff"), "[")
			if header {
				table = nil
			}
			for _, key := range md.Keys() {
				note(lines, append(table[:len(table):len(table)], key...), line)
			}
			if header {
				table = md.Keys()[len(md.Keys())-1]
			}
		}
		line += strings.Count(one, "\n")
		text = text[n:]
	}
	return lines
}

func note(lines map[string]int, key toml.Key, line int) {
	for n := 1; n <= len(key); n++ {
		if _, ok := lines[key[:n].String()]; !ok {
			lines[key[:n].String()] = line
		}
	}
}

// lineOf is the line of the key, or of the nearest table around it.
func lineOf(lines map[string]int, key toml.Key) int {
	for n := len(key); n > 0; n-- {
		if line, ok := lines[key[:n].String()]; ok {
			return line
		}
	}
	return 1
}

// statement is the length of the first statement of a file that parses: up to
// and with the newline that is in no string, list or inline table.
func statement(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			if depth == 0 {
				return i + 1
			}
		case '#':
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n - 1
			} else {
				return len(s)
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"', '\'':
			i += quoted(s[i:]) - 1
		}
	}
	return len(s)
}

// quoted is the length of the string that s begins with, its quotes included.
func quoted(s string) int {
	mark := s[:1]
	if strings.HasPrefix(s, strings.Repeat(mark, 3)) {
		mark = s[:3]
	}
	for i := len(mark); i < len(s); i++ {
		if s[i] == '\\' && mark[0] == '"' {
			i++
			continue
		}
		if !strings.HasPrefix(s[i:], mark) {
			continue
		}
		i += len(mark)
		for len(mark) == 3 && i < len(s) && s[i] == mark[0] {
			i++ // up to two quotes may stand before the three that end it
		}
		return i
	}
	return len(s)
}
