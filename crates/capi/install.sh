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
for library in libstablo_c.a libstablo_c.so libstablo_c.dylib; do
  if [ -f "$built/$library" ]; then cp "$built/$library" "$prefix/lib/"; fi
done
cp "$here/include/stablo.h" "$prefix/include/"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -1)
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/stablo.pc.in" \
  > "$prefix/lib/pkgconfig/stablo.pc"
