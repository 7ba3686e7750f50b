#!/usr/bin/env bash
# Make a Debian 13 root folder in which the Windows recipe can be tried: wine, and a Windows CPython put together from
# packages of public registries. TEST USE ONLY: what people install is built on Windows with python.org's Python.
#
#   wine_root.sh ROOT            made once, and found ready afterwards; remove the folder to have it made anew
#
# Needs root, debootstrap, Python 3.11 or newer with pip, unzip, and the Debian mirror of this machine's apt sources.
set -euo pipefail
root=$1
here=$(dirname "$(readlink -f "$0")")
project=$(readlink -f "$here/../..")
python=$root/w/python
# The order of the parts: what is changed here or in the pins is made anew, all else stays.
system_for=$(sha256sum "$0" | cut -c1-16)
packages_for=$(cat "$0" "$here"/../hashes/*.txt "$project/pyproject.toml" | sha256sum | cut -c1-16)

say() { echo "[${SECONDS}s] $*" >&2; }
in_root() { "$here/in_root.sh" "$root" "$@"; }

mirror() { # where this machine gets Debian from
  PYTHONPATH=$here/.. python3 -c 'from proofs import chroots; print(chroots.mirror())'
}

make_system() {
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase trixie "$root" "$(mirror)" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  say "Debian 13"
  in_root apt-get -qq update
  in_root apt-get install -y -qq --no-install-recommends \
    wine wine64 gcc-mingw-w64-x86-64-win32 libpython3.13-stdlib xvfb iproute2 imagemagick nsis \
    fonts-dejavu-core >>"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  say "wine, the compiler, NSIS"
}

# CPython's own signed DLLs for Windows travel in the wheel of panda3d, which uses them to make programs for Windows on
# other systems. The library in Python is Debian's of the same version.
make_python() {
  local wheels=$root/w/wheels
  rm -rf "$python" "$wheels"
  mkdir -p "$python/DLLs" "$python/Lib/site-packages" "$root/w/source" "$wheels"
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

# What wine 10 lacks and Qt imports: Windows' own ICU, and one call of the colour management.
write_sources() {
  cat >"$root/w/source/python.c" <<'C'
#include <windows.h>
typedef int (*main_function)(int, wchar_t **);
int wmain(int argc, wchar_t **argv) {
    HMODULE library = LoadLibraryW(L"python313.dll");
    return library ? ((main_function)GetProcAddress(library, "Py_Main"))(argc, argv) : 9;
}
C
  cat >"$root/w/source/mscms.c" <<'C'
#define API __declspec(dllexport)
API void *OpenColorProfileW(void) { return 0; }
API int CloseColorProfile(void) { return 1; }
API void *WcsCreateIccProfile(void) { return 0; }
API int GetColorProfileFromHandle(void) { return 0; }
C
  echo 'int __stdcall DllMain(void *module, unsigned reason, void *reserved) { return 1; }' >"$root/w/source/python3.c"
  {
    echo '#define API __declspec(dllexport)'
    echo 'API void *ucnv_open(const char *name, int *error) { if (error) *error = 4; return 0; }'
    for name in ucnv_close UCNV_FROM_U_CALLBACK_SUBSTITUTE UCNV_TO_U_CALLBACK_SUBSTITUTE ucnv_reset ucnv_getMaxCharSize \
      ucnv_getName ucnv_getToUCallBack ucnv_getFromUCallBack ucnv_setToUCallBack ucnv_setFromUCallBack \
      ucnv_cbToUWriteUChars ucnv_toUnicode ucnv_cbFromUWriteUChars ucnv_toUCountPending ucnv_fromUCountPending \
      ucnv_getStandardName ucnv_getAvailableName ucnv_countAvailable ucnv_fromUnicode; do
      echo "API void *$name(void) { return 0; }"
    done
  } >"$root/w/source/icuuc.c"
}

# python3.dll hands every name of the stable ABI on to python313.dll; wheels for abi3 ask for it.
write_forwards() {
  echo 'LIBRARY python3'
  echo EXPORTS
  in_root x86_64-w64-mingw32-objdump -p /w/python/python313.dll |
    awk '/Ordinal\/Name Pointer/ { names = 1; next } names && NF == 0 { exit } names { print "  " $NF "=python313." $NF }'
}

compile() {
  write_sources
  write_forwards >"$root/w/source/python3.def"
  in_root bash -euc '
    cd /w/source
    compiler=x86_64-w64-mingw32-gcc
    $compiler -municode -O1 -s -o ../python/python.exe python.c
    $compiler -shared -s -o ../python/python3.dll python3.c python3.def
    export WINEDEBUG=-all
    timeout 120 wine wineboot --init >/dev/null 2>&1
    timeout 60 wineserver --wait
    for name in icuuc mscms; do
      $compiler -shared -s -o /root/.wine/drive_c/windows/system32/$name.dll $name.c
    done'
  say "compiled"
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
  # What is frozen is the checkout of then; only what the project needs, and its metadata, is wanted here.
  rm -rf "$python/Lib/site-packages/plantdesk"
  # Apart, so that nothing of it can slip into what is frozen.
  "${install[@]/site-packages/test-packages}" "${hashed[@]}" --requirements "$pins/run.txt" \
    --requirements "$pins/test.txt"
  say "packages"
}

is_made() { [[ -f $root.$1 && $(<"$root.$1") == "$2" ]]; }

if ! is_made system "$system_for"; then
  rm -f "$root".{system,packages}
  make_system
  make_python
  compile
  echo "$system_for" >"$root.system"
fi
if ! is_made packages "$packages_for"; then
  rm -f "$root.packages"
  rm -rf "$python"/Lib/{site,test}-packages
  add_packages
  echo "$packages_for" >"$root.packages"
fi
say "ready: $root"
