#!/bin/sh
# Make or refresh the environment of a checkout; POSIX sh, so that it runs before anything is there.
#   environment.sh CHECKOUT run ARGS...   the crawler's environment (.venv), then `nacre ARGS`; the
#                                         package in migrate/ is part of it
#   environment.sh CHECKOUT dev           the same plus the developers' tools and the simulated web
# NACRE_PYTHON: the Python that it is made with; NACRE_VENV: its folder in the checkout.
# Exit 2 with one clear line when something must be installed first.
set -eu
checkout=$1
mode=$2
shift 2
venv=$checkout/${NACRE_VENV:-.venv}

say() { printf 'nacre: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 2
}

usable() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null
}

# The distribution's own Python comes before others: it is built with profile-guided optimisation,
# which saves some 7 % of the CPU time of a crawl. One that cannot make environments is passed over.
find_python() {
    system=${NACRE_SYSTEM_BIN:-/usr/bin}
    if [ -n "${NACRE_PYTHON:-}" ]; then
        usable "$NACRE_PYTHON" || fail "NACRE_PYTHON is $NACRE_PYTHON, which is not a Python 3.11 to 3.14"
        command -v "$NACRE_PYTHON"
        return 0
    fi
    for name in python3.11 python3.12 python3.13 python3.14 python3; do
        if usable "$system/$name" && "$system/$name" -c 'import ensurepip' 2>/dev/null; then
            echo "$system/$name"
            return 0
        fi
    done
    for name in python3.11 python3.12 python3.13 python3.14 python3; do
        if usable "$name"; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# What python3 is, for those who believe that they have one.
unfit_python() {
    unfit=$(python3 --version 2>&1) || return 0
    printf ', and python3 is %s' "$unfit"
}

owner() {
    # shellcheck disable=SC2046
    set -- $(ls -ld "$1")
    echo "$3"
}

fingerprint() { cat "$@" | cksum | tr -d ' '; }

packages=migrate
case $mode in
    run)
        lock=$checkout/requirements.lock
        wanted=$(fingerprint "$lock")
        ;;
    dev)
        lock=$checkout/requirements-dev.lock
        wanted=$(fingerprint "$lock" "$checkout/simweb/pyproject.toml")
        packages="$packages simweb"
        ;;
    *) fail "unknown mode '$mode'" ;;
esac
# The path is part of the stamp: an environment does not survive a move of its checkout.
runtime="$(fingerprint "$checkout/requirements.lock" "$checkout/migrate/pyproject.toml") $checkout"
wanted="$mode $wanted $runtime"
stamp=$venv/nacre-environment
have=$(cat "$stamp" 2>/dev/null || true)
# The developers' environment holds all that the crawler needs.
case $mode:$have in
    run:*" $runtime") ready=yes ;;
    dev:"$wanted") ready=yes ;;
    *) ready=no ;;
esac

if [ "$ready" = no ]; then
    # Without this, the tools below would blame whatever they try first.
    [ -w "$checkout" ] && [ -x "$checkout" ] ||
        fail "$(id -un) may not write to $checkout, where the environment belongs: run this once as $(owner "$checkout"), or make a clone of your own"
    # Two first uses at once: the second waits for the first.
    if command -v flock >/dev/null 2>&1 && [ -z "${NACRE_ENVIRONMENT_LOCKED:-}" ]; then
        NACRE_ENVIRONMENT_LOCKED=1
        export NACRE_ENVIRONMENT_LOCKED
        exec flock "$checkout/.environment.lock" sh "$0" "$checkout" "$mode" "$@"
    fi
    python=$(find_python) || {
        [ -n "${NACRE_PYTHON:-}" ] && exit 2
        fail "Python 3.11 to 3.14 is needed$(unfit_python): 'apt-get install python3 python3-venv' (or set NACRE_PYTHON)"
    }
    if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        say "first use: making the environment in $venv with $("$python" --version)"
        rm -rf "$venv"
        if ! "$python" -m venv "$venv" >"$checkout/.environment.log" 2>&1; then
            rm -rf "$venv"
            "$python" -c 'import ensurepip, venv' 2>/dev/null ||
                fail "this Python has no venv support: 'apt-get install python3-venv' (details: .environment.log)"
            fail "the environment could not be made in $venv: $(tail -n 1 "$checkout/.environment.log")"
        fi
    else
        say "the environment is out of date: refreshing it"
    fi
    say "installing $(grep -c '==' "$lock") pinned packages, about half a minute ..."
    if ! "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --quiet --no-compile \
        --only-binary :all: --require-hashes -r "$lock" >>"$checkout/.environment.log" 2>&1; then
        tail -n 3 "$checkout/.environment.log" >&2
        fail "the packages could not be installed: is there a network or a package index? (details: .environment.log)"
    fi
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' "$checkout/src" >"$site/nacre-src.pth"
    # They are built with the hatchling of the lock, and nothing is looked for in an index.
    for package in $packages; do
        "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --quiet \
            --no-index --no-deps --no-build-isolation -e "$checkout/$package" \
            >>"$checkout/.environment.log" 2>&1 && continue
        tail -n 3 "$checkout/.environment.log" >&2
        fail "the package in $checkout/$package could not be installed (details: .environment.log)"
    done
    # A quarter second of every start, where PYTHONDONTWRITEBYTECODE is set or others own the checkout.
    # pip would compile the packages with one core.
    "$venv/bin/python" -m compileall -q -j 0 "$site" "$checkout/src" "$checkout/migrate/src" >>"$checkout/.environment.log" 2>&1 || true
    # Without it the console reads the catalogue of messages more slowly.
    "$venv/bin/python" "$checkout/src/nacre/languages/translations.py" >>"$checkout/.environment.log" 2>&1 || true
    printf '%s\n' "$wanted" >"$stamp"
    say "the environment is ready"
fi

unset NACRE_ENVIRONMENT_LOCKED
[ "$mode" = run ] || exit 0
exec "$venv/bin/python" -m nacre "$@"
