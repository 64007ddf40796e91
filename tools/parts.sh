#!/bin/sh
# All parts of `make test`, one after the other, and the time that each took.
#   parts.sh MAKE   the first part that fails ends it, with its status
set -u
make=$1
begin=$(date +%s)
times=$(mktemp -d) || exit 1
trap 'rm -rf "$times"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

minutes() { printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); }

# part NAME TARGETS...
part() {
    name=$1
    shift
    from=$(date +%s)
    "$make" --no-print-directory "$@"
    status=$?
    took=$(minutes $(($(date +%s) - from)))
    [ "$status" = 0 ] && word=passed || word=FAILED
    printf '%-28s %s   %s\n' "$name" "$took" "$word" >>"$times/list"
    echo "make test: $name: $took, $word"
    return "$status"
}

tell() {
    echo
    echo "make test took $(minutes $(($(date +%s) - begin))):"
    sed 's/^/  /' "$times/list"
}

# The kill tests mostly wait for a crawl that is slowed down, so the crawls run beside them. What
# they say comes when they are over, each in one piece.
together() {
    part kills kills >"$times/kills" 2>&1 &
    beside=$!
    failed=0
    part crawls crawls || failed=$?
    wait "$beside" || failed=$?
    cat "$times/kills"
    return "$failed"
}

{
    part set-up environment system judges webs &&
        part "lint, types and imports" lint types imports &&
        part "unit tests" unit &&
        part tables cases-tests &&
        part "batch rounds on Spark" spark &&
        part "pages of the console" console-stories &&
        part "pages in a browser" browser-tests &&
        together
}
status=$?
tell
exit "$status"
