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
  joined=$(mktemp -d)
  # One object that shows the functions of the header alone, so that another library in Rust may be
  # linked beside it, and that has one section of a kind, not one for each function with its name:
  # a third of the size.
  cat > "$joined/sections" << 'END'
SECTIONS
{
  .text : { *(.text .text.*) }
  .rodata : { *(.rodata .rodata.*) }
  .eh_frame : { KEEP(*(.eh_frame)) }
  .gcc_except_table : { *(.gcc_except_table .gcc_except_table.*) }
  .init_array : { KEEP(*(.init_array .init_array.*)) }
  .tdata : { *(.tdata .tdata.*) }
  .tbss : { *(.tbss .tbss.*) }
  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) }
  .data : { *(.data .data.*) }
  .bss : { *(.bss .bss.* COMMON) }
}
END
  grep -o 'stablo_[a-z0-9_]* *(' "$here/include/stablo.h" | tr -d ' (' | sort -u > "$joined/names"
  if ld -r --gc-sections -T "$joined/sections" $(sed 's/^/-u /' "$joined/names") -o "$joined/all.o" "$built/libstablo_c.a" 2> /dev/null &&
    objcopy --keep-global-symbols="$joined/names" --strip-unneeded -R .llvmbc -R .llvmcmd "$joined/all.o" "$joined/stablo_c.o" 2> /dev/null &&
    ar rcs "$joined/libstablo_c.a" "$joined/stablo_c.o"; then
    cp "$joined/libstablo_c.a" "$prefix/lib/"
  else
    # Where these are not GNU's, the debug information of Rust's library goes.
    cp "$built/libstablo_c.a" "$prefix/lib/"
    strip --strip-debug "$prefix/lib/libstablo_c.a" 2> /dev/null || strip -S "$prefix/lib/libstablo_c.a" 2> /dev/null || true
  fi
  rm -rf "$joined"
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
