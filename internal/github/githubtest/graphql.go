package githubtest

import (
	"fmt"
	"strconv"
	"strings"
)

// The part of GraphQL that queries to GitHub are made of: one operation with
// variables, fields with aliases and arguments, and fragments.

type object map[string]any

// resolver is a field that has arguments.
type resolver func(args object) (any, error)

type selection struct {
	alias, name string
	args        map[string]any
	fragment    string // a spread's
	on          string // an inline fragment's type
	sub         []selection
}

type document struct {
	operation []selection
	fragments map[string]selection
}

type variable string

// fault is an error in an answer.
type fault struct {
	Type       string         `json:"type,omitempty"`
	Message    string         `json:"message"`
	Path       []any          `json:"path,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

func (f *fault) Error() string { return f.Message }

func parse(text string) (doc document, err error) {
	p := parser{tokens: lex(text)}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse error: %v", r)
		}
	}()
	doc.fragments = map[string]selection{}
	for p.peek() != "" {
		switch word := p.next(); word {
		case "query":
			if p.peek() != "{" && p.peek() != "(" {
				p.next()
			}
			p.variables()
			doc.operation = p.selections()
		case "{":
			p.at--
			doc.operation = p.selections()
		case "fragment":
			name := p.next()
			p.expect("on")
			doc.fragments[name] = selection{on: p.next(), sub: p.selections()}
		default:
			panic("unexpected " + word)
		}
	}
	return doc, nil
}

type parser struct {
	tokens []string
	at     int
}

func lex(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\r\n,", c) >= 0:
			i++
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "..."):
			out = append(out, "...")
			i += 3
		case c == '"':
			j := i + 1
			for j < len(s) && s[j] != '"' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			out = append(out, s[i:min(j+1, len(s))])
			i = j + 1
		case isWord(c):
			j := i
			for j < len(s) && isWord(s[j]) {
				j++
			}
			out = append(out, s[i:j])
			i = j
		default:
			out = append(out, s[i:i+1])
			i++
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	if t == "" {
		panic("the query ends too early")
	}
	p.at++
	return t
}

func (p *parser) expect(t string) {
	if got := p.next(); got != t {
		panic("expected " + t + ", got " + got)
	}
}

// variables passes over the declarations.
func (p *parser) variables() {
	if p.peek() == "(" {
		for p.next() != ")" {
		}
	}
}

func (p *parser) selections() []selection {
	p.expect("{")
	var out []selection
	for p.peek() != "}" {
		out = append(out, p.selection())
	}
	p.next()
	return out
}

func (p *parser) selection() selection {
	var s selection
	if p.peek() == "..." {
		p.next()
		switch p.peek() {
		case "on":
			p.next()
			s.on = p.next()
			s.sub = p.selections()
		default:
			s.fragment = p.next()
		}
		return s
	}
	s.name = p.next()
	s.alias = s.name
	if p.peek() == ":" {
		p.next()
		s.name = p.next()
	}
	if p.peek() == "(" {
		p.next()
		s.args = map[string]any{}
		for p.peek() != ")" {
			name := p.next()
			p.expect(":")
			s.args[name] = p.value()
		}
		p.next()
	}
	if p.peek() == "{" {
		s.sub = p.selections()
	}
	return s
}

func (p *parser) value() any {
	switch t := p.next(); {
	case t == "$":
		return variable(p.next())
	case t == "[":
		list := []any{}
		for p.peek() != "]" {
			list = append(list, p.value())
		}
		p.next()
		return list
	case t == "{":
		o := map[string]any{}
		for p.peek() != "}" {
			name := p.next()
			p.expect(":")
			o[name] = p.value()
		}
		p.next()
		return o
	case t[0] == '"':
		s, err := strconv.Unquote(t)
		if err != nil {
			panic(err)
		}
		return s
	case t == "true" || t == "false":
		return t == "true"
	case t == "null":
		return nil
	default:
		if n, err := strconv.Atoi(t); err == nil {
			return float64(n)
		}
		return t // an enum
	}
}

// run executes a query. Faults are those of single fields; an error is one of
// the query, which then has no data.
type run struct {
	doc    document
	vars   map[string]any
	faults []*fault
}

func (r *run) object(o object, sel []selection, path []any) (object, error) {
	out := object{}
	for _, s := range sel {
		switch {
		case s.fragment != "":
			f, ok := r.doc.fragments[s.fragment]
			if !ok {
				return nil, &fault{Message: "fragment " + s.fragment + " is not defined"}
			}
			s = f
			fallthrough
		case s.on != "":
			if s.on != "Node" && s.on != o["__typename"] {
				continue
			}
			sub, err := r.object(o, s.sub, path)
			if err != nil {
				return nil, err
			}
			for k, v := range sub {
				out[k] = merge(out[k], v)
			}
		default:
			v, err := r.field(o, s, append(path[:len(path):len(path)], s.alias))
			if err != nil {
				return nil, err
			}
			out[s.alias] = merge(out[s.alias], v)
		}
	}
	return out, nil
}

// merge joins what two selections of one field took.
func merge(a, b any) any {
	x, ok := a.(object)
	y, also := b.(object)
	if ok && also {
		for k, v := range y {
			x[k] = merge(x[k], v)
		}
		return x
	}
	l, ok := a.([]any)
	m, also := b.([]any)
	if ok && also && len(l) == len(m) {
		for i := range l {
			l[i] = merge(l[i], m[i])
		}
		return l
	}
	return b
}

func (r *run) field(o object, s selection, path []any) (any, error) {
	v, ok := o[s.name]
	if !ok {
		return nil, &fault{Message: fmt.Sprintf("Field '%s' doesn't exist on type '%v'", s.name, o["__typename"]), Extensions: map[string]any{
			"code": "undefinedField", "typeName": o["__typename"], "fieldName": s.name}}
	}
	if f, ok := v.(resolver); ok {
		args := object{}
		for name, a := range s.args {
			args[name] = r.resolve(a)
		}
		var err error
		if v, err = f(args); err != nil {
			v = err
		}
	}
	return r.complete(v, s, path)
}

func (r *run) complete(v any, s selection, path []any) (any, error) {
	switch v := v.(type) {
	case *fault:
		f := *v
		f.Path = path
		r.faults = append(r.faults, &f)
		return nil, nil
	case object:
		if v == nil {
			return nil, nil
		}
		return r.object(v, s.sub, path)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = r.complete(e, s, append(path[:len(path):len(path)], i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func (r *run) resolve(a any) any {
	switch a := a.(type) {
	case variable:
		return r.vars[string(a)]
	case []any:
		out := make([]any, len(a))
		for i := range a {
			out[i] = r.resolve(a[i])
		}
		return out
	}
	return a
}

// requests counts as GitHub says that it does: each connection with first or
// last once for every node that it may stand in.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
func (r *run) requests(sel []selection, times int) int {
	n := 0
	for _, s := range sel {
		below := times
		if s.fragment != "" {
			s = r.doc.fragments[s.fragment]
		}
		for _, name := range []string{"first", "last"} {
			if size, ok := r.resolve(s.args[name]).(float64); ok {
				n += times
				below = times * int(size)
			}
		}
		if ids, ok := r.resolve(s.args["ids"]).([]any); ok {
			n += times
			below = times * len(ids)
		}
		n += r.requests(s.sub, below)
	}
	return n
}
