#!/bin/sh
# Installs libstablo for C: header, static and shared library, pkg-config file.
#
# usage: crates/capi/install.sh PREFIX [DIRECTORY OF THE BUILT LIBRARIES]
#
# Without a directory, `cargo build --release` makes the libraries first.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 PREFIX [DIRECTORY OF THE BUILT LIBRARIES]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/include" "$1/lib/pkgconfig"
prefix=$(cd "$1" && pwd)
if [ $# -ge 2 ]; then
  built=$2
else
  (cd "$here" && cargo build --release --package stablo-capi)
  built=${CARGO_TARGET_DIR:-$here/../../target}/release
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -1)
# Programs ask for the library by the name that build.rs gives it.
interface=$(echo "$version" | sed -e 's/^0\.\([0-9]*\).*/0.\1/' -e 't' -e 's/\..*//')
if [ -f "$built/libstablo_c.a" ]; then
  cp "$built/libstablo_c.a" "$prefix/lib/"
  # Debug information is four fifths of it.
  strip --strip-debug "$prefix/lib/libstablo_c.a" 2> /dev/null || strip -S "$prefix/lib/libstablo_c.a" 2> /dev/null || true
fi
if [ -f "$built/libstablo_c.so" ]; then
  cp "$built/libstablo_c.so" "$prefix/lib/libstablo_c.so.$version"
  ln -sf "libstablo_c.so.$version" "$prefix/lib/libstablo_c.so.$interface"
  ln -sf "libstablo_c.so.$interface" "$prefix/lib/libstablo_c.so"
fi
if [ -f "$built/libstablo_c.dylib" ]; then
  cp "$built/libstablo_c.dylib" "$prefix/lib/libstablo_c.$interface.dylib"
  ln -sf "libstablo_c.$interface.dylib" "$prefix/lib/libstablo_c.dylib"
fi
cp "$here/include/stablo.h" "$prefix/include/"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/stablo.pc.in" \
  > "$prefix/lib/pkgconfig/stablo.pc"
