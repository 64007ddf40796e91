#!/bin/sh
# All parts of `make test`, and the time that each took.
#   parts.sh MAKE   after the first part that fails no further part begins; its status is returned
set -u
make=$1
begin=$(date +%s)
times=$(mktemp -d) || exit 1
beside=
trap 'rm -rf "$times"' EXIT
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM

stop() { [ -z "$beside" ] || kill "$beside" 2>/dev/null; }

minutes() { printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); }

# part OUTPUT NAME TARGETS...   the output goes to a file, or to the terminal if OUTPUT is "-"
part() {
    output=$1
    name=$2
    shift 2
    [ ! -e "$times/failed" ] || return 1
    from=$(date +%s)
    if [ "$output" = - ]; then
        "$make" --no-print-directory "$@"
        status=$?
    else
        "$make" --no-print-directory "$@" >>"$output" 2>&1 &
        running=$!
        wait "$running"
        status=$?
    fi
    took=$(minutes $(($(date +%s) - from)))
    [ "$status" = 0 ] && word=passed || word=FAILED
    printf '%-28s %s   %s\n' "$name" "$took" "$word" >>"$times/list"
    echo "make test: $name: $took, $word"
    [ "$status" = 0 ] || echo "$status" >>"$times/failed"
    return "$status"
}

tell() {
    echo
    echo "make test took $(minutes $(($(date +%s) - begin))):"
    sed 's/^/  /' "$times/list"
}

# These parts compute.
computing() {
    part - "lint, types and imports" lint types imports &&
        part - "unit tests" unit &&
        part - tables cases-tests &&
        part - crawls crawls
}

# These parts wait for a browser, a cluster or a slow server half of the time, so they run beside the
# others. Their output is shown at the end, in one piece.
waiting() {
    trap 'kill "$running" 2>/dev/null; exit 143' TERM
    running=
    part "$1" "judges and sites" judges webs &&
        part "$1" "pages in a browser" browser-tests &&
        part "$1" "batch rounds on Spark" spark &&
        part "$1" kills kills &&
        part "$1" "pages of the console" console-stories
}

if part - set-up environment system; then
    waiting "$times/beside" &
    beside=$!
    computing
    wait "$beside"
    beside=
    cat "$times/beside"
fi
tell
[ ! -e "$times/failed" ] || exit "$(head -n 1 "$times/failed")"
