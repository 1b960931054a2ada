#!/bin/sh
exec sh "$(dirname "$0")/plugin/gh-loop.tmux"
