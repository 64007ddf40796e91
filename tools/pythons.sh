#!/bin/sh
# The tests with the other Pythons of this machine: 3.13 and 3.14 where they are found on the PATH,
# and the one that NACRE_PYTHON names, each in an environment of its own (.venv-3.13 …).
#   pythons.sh CHECKOUT ARGS...   runs `python -m pytest ARGS` with each
set -eu
checkout=$1
shift
number='import sys; print("%d.%d" % sys.version_info[:2])'

say() { printf 'nacre: %s\n' "$*" >&2; }

own=$("$checkout/.venv/bin/python" -c "$number")
done=" $own "
for python in ${NACRE_PYTHON:-} python3.13 python3.14; do
    # A name may be that of a shim with nothing behind it.
    version=$("$python" -c "$number" 2>/dev/null) || version=
    case $version in
        3.1[1-4]) ;;
        *)
            if [ "$python" = "${NACRE_PYTHON:-}" ]; then
                say "NACRE_PYTHON is $python, which is not a Python 3.11 to 3.14"
                exit 2
            fi
            [ "$python" = python3.14 ] && [ "${done#* 3.14 }" = "$done" ] &&
                say "no Python 3.14 here: its wheels are looked for, but no test runs with it"
            continue
            ;;
    esac
    case $done in *" $version "*) continue ;; esac
    done="$done$version "
    say "the unit tests with Python $version"
    NACRE_VENV=.venv-$version NACRE_PYTHON=$python sh "$checkout/tools/environment.sh" "$checkout" dev
    "$checkout/.venv-$version/bin/python" -m pytest "$@"
done
