#!/usr/bin/env bash
# Make a Debian 13 root folder to try the Windows recipe in: wine, and a Windows CPython put together from packages of
# public registries. FOR TESTS ONLY: releases are built on Windows with python.org's Python.
#
#   wine_root.sh ROOT MIRROR     does nothing if ROOT is up to date; remove the folder to make it anew
#
# Needs root, debootstrap, unzip, and Python 3.11 or newer with pip.
set -euo pipefail
root=$1
mirror=$2
here=$(dirname "$(readlink -f "$0")")
project=$(readlink -f "$here/../..")
python=$root/w/python
# A change of this script makes everything anew, one of the pins only the packages.
system_for=$(cat "$0" "$here/wine_stubs.c" | sha256sum | cut -c1-16)
packages_for=$(cat "$0" "$here"/../hashes/*.txt "$project/pyproject.toml" | sha256sum | cut -c1-16)

say() { echo "[${SECONDS}s] $*" >&2; }

in_root() { # run a command inside, with mounts and processes of its own that end with it
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  unshare --mount --pid --fork --kill-child sh -euc '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    mount --make-rslave "$0/dev"
    exec chroot "$0" env -i HOME=/w/home LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$root" "$@"
}

make_system() {
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase trixie "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  in_root apt-get -qq update
  in_root apt-get install -y -qq --no-install-recommends \
    wine wine64 gcc-mingw-w64-x86-64-win32 libpython3.13-stdlib xvfb xauth iproute2 \
    fonts-dejavu-core >>"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  say "Debian 13 with wine"
}

# panda3d's wheel contains CPython's signed DLLs for Windows. The standard library is Debian's, of the same version.
make_python() {
  local wheels=$root/w/wheels
  rm -rf "$python" "$wheels"
  mkdir -p "$python/DLLs" "$python/Lib/site-packages" "$root"/w/{home,source} "$wheels"
  python3 -m pip download -q --no-deps --only-binary=:all: --platform win_amd64 --python-version 3.13 \
    --require-hashes --dest "$wheels" --requirement <(echo "panda3d==1.10.16 --hash=sha256:0e505261bb58d8402d0099c291f1a3459acfdd38f3e7d666e72aa2e1ea5dc46f")
  unzip -q "$wheels"/panda3d-*.whl 'deploy_libs/*' -d "$wheels"
  rm -f "$wheels"/deploy_libs/*cp313t* "$wheels"/deploy_libs/api-ms-*
  mv "$wheels"/deploy_libs/{python313,VCRUNTIME140,VCRUNTIME140_1}.dll "$python"
  mv "$wheels"/deploy_libs/*.pyd "$wheels"/deploy_libs/{libffi-8,libcrypto-3,libssl-3,sqlite3,zlib1}.dll "$python/DLLs"
  cp -r "$root/usr/lib/python3.13/." "$python/Lib"
  rm -rf "$python/Lib/lib-dynload" "$wheels"
  say "CPython for Windows"
}

# python3.dll forwards the stable ABI to python313.dll, for abi3 wheels.
write_forwards() {
  echo 'LIBRARY python3'
  echo EXPORTS
  in_root x86_64-w64-mingw32-objdump -p /w/python/python313.dll |
    awk '/Ordinal\/Name Pointer/ { names = 1; next } names && NF == 0 { exit } names { print "  " $NF "=python313." $NF }'
}

compile() {
  cp "$here/wine_stubs.c" "$root/w/source"
  write_forwards >"$root/w/source/python3.def"
  in_root bash -euc '
    cd /w/source
    compiler=x86_64-w64-mingw32-gcc
    $compiler -municode -O1 -s -DPYTHON -o ../python/python.exe wine_stubs.c
    $compiler -shared -s -DPYTHON3 -o ../python/python3.dll wine_stubs.c python3.def
    export WINEDEBUG=-all
    timeout 120 wine wineboot --init >/dev/null 2>&1
    timeout 60 wineserver --wait
    for name in icuuc mscms; do
      $compiler -shared -s "-D${name^^}" -o "$HOME/.wine/drive_c/windows/system32/$name.dll" wine_stubs.c
    done'
}

add_packages() {
  local tools=$root.tools
  local pins=$here/../hashes
  [[ -x $tools/bin/uv ]] || {
    python3 -m venv "$tools"
    "$tools/bin/python" -m pip install -q --require-hashes --only-binary :all: --requirement "$pins/pins.txt"
  }
  local install=("$tools/bin/uv" pip install -q --target "$python/Lib/site-packages" --link-mode copy
    --python-platform x86_64-pc-windows-msvc --python-version 3.13)
  local hashed=(--require-hashes --only-binary :all:)
  "${install[@]}" "${hashed[@]}" --requirements "$pins/run.txt" --requirements "$pins/build.txt"
  "${install[@]}" --no-deps --build-constraints "$pins/build-system.txt" "$project"
  # Only its requirements and metadata are needed: a later checkout is frozen.
  rm -rf "$python/Lib/site-packages/plantdesk"
  # In another folder, so that nothing of it gets into the bundle.
  "${install[@]/site-packages/test-packages}" "${hashed[@]}" --requirements "$pins/run.txt" \
    --requirements "$pins/test.txt"
}

if [[ ! -f $root.system || $(<"$root.system") != "$system_for" ]]; then
  rm -f "$root".{system,packages}
  make_system
  make_python
  compile
  echo "$system_for" >"$root.system"
fi
if [[ ! -f $root.packages || $(<"$root.packages") != "$packages_for" ]]; then
  rm -rf "$root.packages" "$python"/Lib/{site,test}-packages
  add_packages
  echo "$packages_for" >"$root.packages"
fi
say "ready: $root"
