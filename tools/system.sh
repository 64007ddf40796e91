#!/bin/sh
# The system programs that the tests need: those on the PATH, else installed by apt when root,
# else unpacked from Debian's packages into the cache (tools/cache.py). Starts no daemon, leaves none behind.
# chromium-headless-shell, which runs the pages of the tests of the crawler's browser, is unpacked
# too, with those of its libraries that are missing; where that fails these tests are skipped.
# Java, which only `make spark` needs, and Chromium and pdftotext, which the tests of the console
# and of printed reports need, are installed when root; without them these parts say what to install.
#   system.sh CHECKOUT   prints nothing when all is there
set -eu
checkout=$1
case ${XDG_CACHE_HOME:-} in
    /*) cache=$XDG_CACHE_HOME/nacre ;;
    *) cache=${HOME:-$checkout}/.cache/nacre ;;
esac
root=$cache/system
export DEBIAN_FRONTEND=noninteractive

have() {
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] ||
        [ -x "$root/usr/sbin/$1" ] || [ -x "$root/usr/bin/$1" ]
}

missing=
have nginx || missing="$missing nginx-light nginx-common"
have dnsmasq || missing="$missing dnsmasq-base"
have openssl || missing="$missing openssl"
java=
command -v java >/dev/null 2>&1 || [ -n "${JAVA_HOME:-}" ] || [ "$(id -u)" != 0 ] ||
    java=openjdk-17-jre-headless
chromium=
command -v chromium >/dev/null 2>&1 || [ -n "${NACRE_CHROMIUM:-}" ] || [ "$(id -u)" != 0 ] ||
    chromium=chromium
shell=
command -v chromium-headless-shell >/dev/null 2>&1 || [ -n "${NACRE_CHROMIUM:-}" ] ||
    [ -x "$root/bin/chromium-headless-shell" ] || shell=chromium-headless-shell
command -v pdftotext >/dev/null 2>&1 || [ "$(id -u)" != 0 ] || chromium="${chromium:+$chromium }poppler-utils"
[ -n "$missing$java$chromium$shell" ] || exit 0

command -v apt-get >/dev/null 2>&1 || {
    [ -n "$missing" ] || exit 0
    echo "tests need nginx, dnsmasq and openssl; this system has no apt-get to install them" >&2
    exit 2
}
log=$cache/system.log
mkdir -p "$cache"
# Two uses at once: the second waits for the first, and finds what it installed.
if command -v flock >/dev/null 2>&1 && [ -z "${NACRE_SYSTEM_LOCKED:-}" ]; then
    NACRE_SYSTEM_LOCKED=1 exec flock "$cache/system.lock" sh "$0" "$checkout"
fi
if [ "$(id -u)" = 0 ]; then
    echo "installing$missing${java:+ $java}${chromium:+ $chromium}${shell:+ $shell} ..." >&2
    # Packages start their services on installation; this policy forbids it for the moment.
    policy=/usr/sbin/policy-rc.d
    made=no
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && made=yes
    fi
    ok=yes
    apt-get -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 || true
    # shellcheck disable=SC2086
    [ -z "$missing" ] ||
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing >>"$log" 2>&1 || ok=no
    # shellcheck disable=SC2086
    [ -z "$java" ] || apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $java >>"$log" 2>&1 ||
        echo "$java could not be installed: make spark will be skipped" >&2
    # shellcheck disable=SC2086
    [ -z "$chromium" ] ||
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $chromium >>"$log" 2>&1 ||
        echo "$chromium could not be installed: make console-stories will be skipped" >&2
    [ -z "$shell" ] ||
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $shell chromium-sandbox >>"$log" 2>&1 ||
        echo "$shell could not be installed: make browser-tests will be skipped" >&2
    [ "$made" = no ] || rm -f "$policy"
    [ "$ok" = yes ] || { tail -n 5 "$log" >&2; exit 2; }
    exit 0
fi

# dependencies PACKAGES: all that they need, one a line
dependencies() {
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
        --no-breaks --no-replaces --no-enhances "$@" 2>/dev/null | grep '^[a-z]' | sort -u
}

if [ -n "$missing" ]; then
    echo "unpacking$missing into $root ..." >&2
    mkdir -p "$root/archives"
    cd "$root/archives"
    # shellcheck disable=SC2046,SC2086
    apt-get download $(dependencies $missing |
        grep -E '^(nginx|dnsmasq|lib(pcre|nettle|hogweed|gmp|idn2|unistring|netfilter|nfnetlink|nftables|lua))') \
        >"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 2; }
    for package in *.deb; do dpkg -x "$package" "$root"; done
fi

# unpack_shell: chromium-headless-shell and what it needs that is not installed, with a script that
# finds both. Its sandbox needs user namespaces then: an unpacked helper has no setuid bit.
unpack_shell() {
    mkdir -p "$root/shell" "$root/bin"
    cd "$root/shell"
    needed=
    for package in $(dependencies $shell | grep -E '^(lib|chromium-|fonts-(liberation|dejavu-core)$)' |
        grep -vE '^lib(c6$|llvm|gl|z3|x(aw|nvctrl|xf86)|debian|newt|slang)'); do
        state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
        case $state in ii*) [ "$package" = "${package#chromium-}" ] && continue ;; esac
        needed="$needed $package"
    done
    # shellcheck disable=SC2086
    apt-get download $needed >>"$log" 2>&1 || return 1
    for package in *.deb; do dpkg -x "$package" "$root" || return 1; done
    libraries=$(echo "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu | tr ' ' ':')
    cat >"$root/bin/chromium-headless-shell.new" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$libraries"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="$root/etc/fonts"
exec "$root/usr/lib/chromium/chromium-headless-shell" "\$@"
END
    chmod +x "$root/bin/chromium-headless-shell.new"
    "$root/bin/chromium-headless-shell.new" --version >>"$log" 2>&1 || return 1
    mv "$root/bin/chromium-headless-shell.new" "$root/bin/chromium-headless-shell"
}
[ -z "$shell" ] || {
    echo "unpacking $shell into $root ..." >&2
    (unpack_shell) || echo "$shell could not be unpacked: make browser-tests will be skipped" >&2
    rm -f "$root"/shell/*.deb
}
